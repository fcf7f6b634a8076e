// A mutant is the solution with one function replaced. `#define step right_step` around the solution keeps
// the right function under another name. The headers come first, so that the macro renames nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "pipeline_parallel.h"

#define DIST_SOLUTION "solutions/20_pipeline_parallel/pipeline_parallel.cpp"

namespace lab {

// step() with another way to send and to receive: send(tensor, peer, kind), receive(tensor, peer, kind).
template <class Send, class Receive>
double run_list(const std::vector<Action>& actions, const Batch& batch, const Stage& stage, const Send& send,
                const Receive& receive) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  double loss = 0;
  std::map<int, dist::Tensor> gradients;
  for (const auto& [kind, j] : actions) {
    const bool is_forward = kind == Kind::forward;
    const int before = is_forward ? rank - 1 : rank + 1, behind = is_forward ? rank + 1 : rank - 1;
    dist::Tensor in = is_forward ? dist::Tensor{} : gradients[j];
    if (is_forward && rank == 0) in = batch.inputs[static_cast<std::size_t>(j)];
    if (before >= 0 && before <= last) {
      in =
          dist::empty({batch.samples[static_cast<std::size_t>(j)], is_forward ? stage.inputs : stage.outputs},
                      dist::DType::f64);
      receive(in, before, kind);
    }
    const dist::Tensor out = is_forward ? stage.forward(j, in) : stage.backward(j, in);
    if (behind >= 0 && behind <= last) send(out, behind, kind);
    if (!is_forward || rank != last) continue;
    Loss of_micro_batch = stage.loss(j, out);
    loss += of_micro_batch.sum / samples;
    gradients[j] = of_micro_batch.gradient.div_(samples);
  }
  return loss;
}

}  // namespace lab
