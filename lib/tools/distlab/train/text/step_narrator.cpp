#include "distlab/train/text/step_narrator.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "distlab/waiting.h"

namespace distlab {

void StepNarrator::begin(std::int64_t done) {
  first_ = done;
  began_ = said_ = Clock::now();
}

double StepNarrator::rate(std::int64_t done) const {
  return static_cast<double>((done - first_) * tokens_per_step_) /
         std::chrono::duration<double>(Clock::now() - began_).count();
}

void StepNarrator::step(std::int64_t done, double loss, double lr, double grad_norm) {
  const double tokens_per_s = rate(done);
  log_.write({{"step", static_cast<double>(done)},
              {"loss", loss},
              {"lr", lr},
              {"grad_norm", grad_norm},
              {"tokens_per_s", tokens_per_s},
              {"flops_per_s", flops_.per_second(tokens_per_s)},
              {"mfu", flops_.mfu(tokens_per_s)}});
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  if (silent_ || now - said_ < (can_rewrite_lines() ? Clock::duration(100ms) : Clock::duration(5s))) return;
  said_ = now;
  const double share = static_cast<double>(done) / static_cast<double>(steps_);
  if (can_rewrite_lines()) {
    const double of_this_run =
        static_cast<double>(done - first_) / static_cast<double>(std::max<std::int64_t>(steps_ - first_, 1));
    line_.show(fmt::format("step {} of {}{}, {}, loss {:.4f}, {:.0f} tokens/s, {}, {:.0f} MiB", done, steps_,
                           progress_bar(share), time_left(now - began_, of_this_run), loss, tokens_per_s,
                           flops_.text(tokens_per_s), peak_mib()));
  } else {
    say(fmt::format("step {} of {}  loss {:.4f}  lr {:.2e}  {:.0f} tokens/s  {}  {:.0f} MiB", done, steps_,
                    loss, lr, tokens_per_s, flops_.text(tokens_per_s), peak_mib()));
  }
}

void StepNarrator::end(const StepResult& result) {
  log_.write({{"step", static_cast<double>(result.done)},
              {"validation_loss", result.validation_loss},
              {"mean_loss", result.loss}});
  say(fmt::format(
      "step {} of {}: loss {:.4f}, validation loss {:.4f}, lr {:.2e}, {:.0f} tokens/s, {}, {:.0f} MiB",
      result.done, steps_, result.loss, result.validation_loss, result.lr, result.tokens_per_s,
      flops_.text(result.tokens_per_s), peak_mib()));
}

void StepNarrator::say(std::string_view line) {
  if (silent_) return;
  line_.clear();
  fmt::print("{}\n", line);
  flush_stdout();
}

}  // namespace distlab
