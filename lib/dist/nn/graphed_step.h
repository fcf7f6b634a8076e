// GraphedStep: a training step that a GPU gets as one launch instead of hundreds. After a few steps its work
// is recorded as a graph, which every later batch of the same shape launches again.
//
//   nn::GraphedStep step(cuda(0), [&](const Tensor& images, const Tensor& labels) {
//     nn::Loss value = loss.forward(model.forward(images), labels);
//     optimizer.zero_grad();
//     model.backward(loss.backward());
//     optimizer.step();
//     return value;
//   });
//   for (const auto& batch : loader) last = step(batch.inputs, batch.targets);
//
// Once it is recorded, the step's own code does not run any more. What the host must do each time cuts the
// graph in two and is done in between: an optimizer's step(), with the learning rate as it is then, and what
// a DistributedDataParallel sends, which thus overlaps with the backward as it does without a graph; with
// GraphedStepOptions::has_collectives that is in the graph, too, on backend nccl. The number of the step that
// Dropout draws by (Module::set_position) is read again, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "dist/nn/cross_entropy.h"
#include "dist/nn/module.h"

namespace dist::nn {

struct GraphedStepOptions {
  // Steps before it is recorded. A DistributedDataParallel arranges its buckets anew in the second one, and
  // libraries choose their plans in the first.
  int warm_up = 3;
  // Batches of another shape throw Error{invalid_argument}, which says so, instead of doing without the
  // graph.
  bool only_one_shape = false;
  // Collectives become part of the graph instead of cutting it, where the backend can do that (nccl). Then
  // all ranks launch the graph in a step, or none does: in each step their batches have one shape (as a
  // DistributedSampler gives them), and `warm_up` is the same. A rank that takes another step than the others
  // ends by its timeout. A DistributedDataParallel's hook is called when the step is recorded, and not again.
  bool has_collectives = false;
};

// Used by one thread, with one current stream. On a CPU it calls the step each time.
class GraphedStep {
 public:
  // What a step does with one batch on the device. It must not read device memory on the host, nor (without
  // has_collectives) call collectives itself: the step that is recorded throws Error{unsupported} then, which
  // names the call.
  using Step = std::function<Loss(const Tensor& inputs, const Tensor& targets)>;
  // Models, optimizers and whatever else `step` uses must outlive this and keep their memory. Throws
  // Error{invalid_argument} for less than one step of warm-up.
  GraphedStep(Device device, Step step, GraphedStepOptions options = {});
  ~GraphedStep();
  GraphedStep(const GraphedStep&) = delete;
  GraphedStep& operator=(const GraphedStep&) = delete;

  // One step with this batch, from the CPU or the device. The host waits for the device only if that is two
  // steps behind. The loss has memory of its own.
  Loss operator()(const Tensor& inputs, const Tensor& targets);
  bool is_recorded() const;
  std::size_t graphs() const;  // per step: one, and one more for each time that the host must act in between
  // Enqueues the graphs alone, once they are recorded, for measurements: what a step would take if the host
  // did nothing. The numbers that they compute have no meaning.
  void launch_graphs_alone();

  // For layers: the step that this thread is recording; null: none.
  static GraphedStep* recording();
  // Where the device finds the step of a module's position.
  const std::int64_t* step_of(const Position& position);

 private:
  class Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace dist::nn
