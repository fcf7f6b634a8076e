#include "distlab/train/gpu_steps.h"

#include <utility>

namespace distlab {

void GpuSteps::take(const dist::data::Batch& batch, const StepOfRank& at, StepTimes times,
                    const Report& report) {
  Lap lap;
  Taken taken{step_(batch.inputs, batch.targets), batch.size(), at, times};
  finish(report);
  taken.times.enqueued = lap();
  last_ = std::move(taken);
}

void GpuSteps::finish(const Report& report) {
  if (!last_) return;
  const Taken done = *std::exchange(last_, {});
  const double loss = done.loss;
  expect_finite(loss, done.at);
  report(loss, done.rows, done.at, done.times);
}

}  // namespace distlab
