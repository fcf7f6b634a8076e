#include "distlab/train/narrator.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "distlab/waiting.h"

namespace distlab {

void Narrator::begin(int epoch, std::int64_t images) {
  epoch_ = epoch, first_ = images;
  began_ = said_ = Clock::now();
}

void Narrator::step(std::int64_t images, std::int64_t of, double loss) {
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  const auto taken = static_cast<double>(images - first_);
  const double rate = taken / std::chrono::duration<double>(now - began_).count();
  log_.write({{"epoch", static_cast<double>(epoch_)},
              {"images", static_cast<double>(images)},
              {"loss", loss},
              {"images_per_s", rate},
              {"flops_per_s", flops_.per_second(rate)},
              {"mfu", flops_.mfu(rate)}});
  if (silent_ || now - said_ < (can_rewrite_lines() ? Clock::duration(100ms) : Clock::duration(5s))) return;
  said_ = now;
  const double share = static_cast<double>(images) / static_cast<double>(std::max<std::int64_t>(of, 1));
  const double of_this_run = taken / static_cast<double>(std::max<std::int64_t>(of - first_, 1));
  if (can_rewrite_lines()) {
    line_.show(fmt::format("epoch {} of {}{} {:.0f} %, {}, loss {:.4f}, {:.0f} images/s, {}", epoch_, epochs_,
                           progress_bar(share), 100 * share, time_left(now - began_, of_this_run), loss, rate,
                           flops_.text(rate)));
  } else {
    say(fmt::format("epoch {} of {} {:3.0f} %  {:6.0f} images/s  {}  loss {:.4f}", epoch_, epochs_,
                    100 * share, rate, flops_.text(rate), loss));
  }
}

void Narrator::end(const EpochResult& result) {
  const double rate = static_cast<double>(result.images) / result.seconds;
  log_.write({{"epoch", static_cast<double>(epoch_)},
              {"mean_loss", result.loss},
              {"accuracy", static_cast<double>(result.right) / static_cast<double>(result.of)},
              {"images_per_s", rate},
              {"flops_per_s", flops_.per_second(rate)},
              {"mfu", flops_.mfu(rate)}});
  say(fmt::format("epoch {} of {}: loss {:.4f}, accuracy {:.2f} % ({} of {}), {:.0f} images/s, {}", epoch_,
                  epochs_, result.loss,
                  100. * static_cast<double>(result.right) / static_cast<double>(result.of), result.right,
                  result.of, rate, flops_.text(rate)));
}

void Narrator::say(std::string_view line) {
  if (silent_) return;
  line_.clear();
  fmt::print("{}\n", line);
  flush_stdout();
}

}  // namespace distlab
