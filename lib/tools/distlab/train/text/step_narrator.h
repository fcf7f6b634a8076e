// StepNarrator: prints the progress of training that counts steps. It rewrites one line on a terminal, and
// prints plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "distlab/terminal.h"
#include "distlab/train/flop_meter.h"
#include "distlab/train/options.h"
#include "distlab/train/run_log.h"

namespace distlab {

// The results of the steps up to `done`, on all ranks.
struct StepResult {
  std::int64_t done = 0;  // steps since the beginning
  double loss = 0;        // mean over the steps since the last validation
  double validation_loss = 0, lr = 0, tokens_per_s = 0;
};

// One rank's narrator prints; the narrators of all other ranks are silent.
class StepNarrator {
 public:
  StepNarrator(bool silent, const TrainOptions& options, std::int64_t tokens_per_step,
               const FlopMeter& flops_per_token)
      : silent_(silent),
        steps_(options.text.steps),
        tokens_per_step_(tokens_per_step),
        flops_(flops_per_token),
        log_(silent ? "" : options.log, options.resume) {}

  // Training begins, or continues after a validation, when this many steps are done.
  void begin(std::int64_t done);
  // Call it after a step, with the loss of this rank.
  void step(std::int64_t done, double loss, double lr, double grad_norm);
  void end(const StepResult& result);
  // Tokens of all ranks per second since begin().
  double rate(std::int64_t done) const;
  // Throws Error{resource} when standard output cannot be written.
  void say(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;
  const bool silent_;
  const std::int64_t steps_, tokens_per_step_;
  std::int64_t first_ = 0;
  Clock::time_point began_{}, said_{};
  ProgressLine line_;
  const FlopMeter flops_;
  RunLog log_;
};

}  // namespace distlab
