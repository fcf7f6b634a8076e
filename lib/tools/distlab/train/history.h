// History: the cost and the loss of each step of a run.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace distlab {

// Seconds since the last call.
class Lap {
 public:
  double operator()() {
    const auto now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

// Seconds of one step on this rank. Their sum is the time of the step.
struct StepTimes {
  double data = 0;      // waiting for the batch
  double forward = 0;   // including the loss
  double backward = 0;  // without exposed communication
  double exposed = 0;   // waiting for gradients of other ranks, with nothing left to compute
  double update = 0;    // the optimizer's step
  // Instead of these four, for a step on a GPU that may be a graph: enqueuing it, and waiting for the step
  // before it.
  double enqueued = 0;

  double total() const { return data + forward + backward + exposed + update + enqueued; }
};

class History {
 public:
  void add(double loss, const StepTimes& times) {
    losses_.push_back(loss);
    times_.push_back(times);
  }
  bool empty() const { return times_.empty(); }
  // Returns "step 14.2 ms: forward 5.1, backward 8.2, ...": medians without the first step, which allocates
  // buffers. Returns an empty text before the second step.
  std::string summary() const;
  // Writes loss.svg and step_times.svg into the folder. Throws Error{resource} when they cannot be written.
  void plot(const std::filesystem::path& folder, const std::string& title) const;

 private:
  std::vector<double> losses_;
  std::vector<StepTimes> times_;
};

}  // namespace distlab
