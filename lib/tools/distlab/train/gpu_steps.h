// Steps on a GPU. Each is enqueued (as a graph, once it was recorded) before the host reads the loss of the
// previous step, so that the GPU never waits for the host. On backend nccl, the graph has the step's
// all-reduces. (The samplers give all ranks batches of one shape.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "dist/data/data_loader.h"
#include "dist/nn/graphed_step.h"

#include "distlab/train/finite.h"
#include "distlab/train/history.h"

namespace distlab {

class GpuSteps {
 public:
  // Called in the order of the steps, with each one's loss.
  using Report =
      std::function<void(double loss, std::int64_t rows, const StepOfRank& at, const StepTimes& times)>;
  GpuSteps(dist::Device device, dist::nn::GraphedStep::Step step)
      : step_(device, std::move(step), {.has_collectives = true}) {}

  // Throws Error{invalid_argument} when the loss of the step before this one is not finite.
  void take(const dist::data::Batch& batch, const StepOfRank& at, StepTimes times, const Report& report);
  // Reports the last step.
  void finish(const Report& report);

 private:
  struct Taken {
    dist::nn::Loss loss;
    std::int64_t rows;
    StepOfRank at;
    StepTimes times;
  };
  dist::nn::GraphedStep step_;
  std::optional<Taken> last_;
};

}  // namespace distlab
