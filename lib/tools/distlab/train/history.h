// History: what each step of a run has cost, and how far it has come.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace distlab {

// Seconds of one step on this rank. Together they are the step.
struct StepTimes {
  double data = 0;      // waiting for the batch
  double forward = 0;   // the loss included
  double backward = 0;  // without what is exposed
  double exposed = 0;   // waiting for gradients of other ranks, with nothing else to do
  double update = 0;    // the optimizer's step

  double total() const { return data + forward + backward + exposed + update; }
};

class History {
 public:
  void add(double loss, const StepTimes& times) {
    losses_.push_back(loss);
    times_.push_back(times);
  }
  bool empty() const { return times_.empty(); }
  // "step 14.2 ms: forward 5.1, backward 8.2, ...": medians, without the first step, which makes buffers.
  // Empty before the second.
  std::string summary() const;
  // loss.svg and step_times.svg in the folder. Error{resource} when they cannot be written.
  void plot(const std::filesystem::path& folder, const std::string& title) const;

 private:
  std::vector<double> losses_;
  std::vector<StepTimes> times_;
};

// Makes the folder of --plot, before anything is trained. Error{invalid_argument} where nothing can be
// written in it.
void check_plot_folder(const std::filesystem::path& folder);

}  // namespace distlab
