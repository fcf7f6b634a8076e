// Narrator: tells a person how training goes. A line that is rewritten on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "distlab/terminal.h"

namespace distlab {

// How an epoch went on all ranks.
struct EpochResult {
  double loss = 0;                 // mean over all training samples, each at its own step
  std::int64_t right = 0, of = 0;  // test images
  double seconds = 0;              // of training
  std::int64_t images = 0;         // trained on
};

// Of one rank: all others have one that is silent.
class Narrator {
 public:
  Narrator(bool silent, int epochs) : silent_(silent), epochs_(epochs) {}

  void begin(int epoch);
  // After a step: images so far, of all ranks; the loss of this rank.
  void step(std::int64_t images, std::int64_t of, double loss);
  void end(const EpochResult& result);
  // Error{resource} when standard output cannot be written.
  void say(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;
  const bool silent_;
  const int epochs_;
  int epoch_ = 0;
  Clock::time_point began_{}, said_{};
  ProgressLine line_;
};

}  // namespace distlab
