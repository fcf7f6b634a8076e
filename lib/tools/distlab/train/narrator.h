// Narrator: prints the progress of training. It rewrites one line on a terminal, and prints plain lines
// elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "distlab/terminal.h"
#include "distlab/train/flop_meter.h"
#include "distlab/train/options.h"
#include "distlab/train/run_log.h"

namespace distlab {

// The results of an epoch on all ranks.
struct EpochResult {
  double loss = 0;                 // mean over all training samples, each at the time of its step
  std::int64_t right = 0, of = 0;  // test images
  double seconds = 0;              // of the training part
  std::int64_t images = 0;         // training images
};

// One rank prints; the narrators of all other ranks are silent.
class Narrator {
 public:
  Narrator(bool silent, const TrainOptions& options, const FlopMeter& flops_per_image)
      : silent_(silent),
        epochs_(options.epochs),
        flops_(flops_per_image),
        log_(silent ? "" : options.log, options.resume) {}

  // `images` of the epoch were taken before, in a run that this one continues.
  void begin(int epoch, std::int64_t images);
  // Call it after a step, with the images of all ranks so far and the loss of this rank.
  void step(std::int64_t images, std::int64_t of, double loss);
  void end(const EpochResult& result);
  // Throws Error{resource} when standard output cannot be written.
  void say(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;
  const bool silent_;
  const int epochs_;
  int epoch_ = 0;
  std::int64_t first_ = 0;
  Clock::time_point began_{}, said_{};
  ProgressLine line_;
  const FlopMeter flops_;
  RunLog log_;
};

}  // namespace distlab
