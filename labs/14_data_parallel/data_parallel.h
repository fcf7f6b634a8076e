// Lab 14, the contract: n ranks train as one would with a batch n times as large.
// You write these functions in data_parallel.cpp; this file stays as it is.
//
// All ranks of the default group call them, n ranks in all, n = 1 too. A model is a list of tensors, its
// weights; its gradients are a list of tensors of the same shapes and dtypes, f32 or f64. Lists have the same
// form on all ranks. Results are in place: in the memory that the caller gave.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

using Tensors = std::vector<dist::Tensor>;

// Part 1. All ranks get rank 0's weights. Only broadcast is used, and every weight is sent once.
void broadcast_weights(Tensors& weights);

// Part 2. Every gradient becomes the mean over the ranks, element by element. Only all_reduce is used, and
// every gradient is sent once.
void average_gradients(Tensors& gradients);

// Part 3. This rank's gradients are the means over its own `samples`; afterwards they are the means over the
// samples of all ranks. A rank may have 0 samples: then its gradients hold anything, also NaN. One rank at
// least has a sample. Only all_reduce is used: every gradient is sent once, and beside them at most one
// tensor of one number.
void average_over_samples(Tensors& gradients, std::int64_t samples);

// What a rank brings to training.
struct Trainer {
  // Writes the gradients of its part of the batch of this step (0, 1, 2, ...): means over its samples.
  // Returns how many samples these are. When there are 0, it leaves `gradients` as they are.
  std::function<std::int64_t(int step, const Tensors& weights, Tensors& gradients)> compute;
  // Changes the weights by the gradients. It remembers what it needs from step to step: Adam, momentum.
  std::function<void(Tensors& weights, const Tensors& gradients)> optimize;
};

// Part 4. Trains for so many steps. It begins with rank 0's weights on all ranks. After every step all ranks
// have the weights that one rank would have that computes the whole batch; only rounding may differ. Each
// rank's compute() and optimize() are called once a step. The weights are sent at the beginning and never
// again. broadcast and all_reduce do all that moves; barrier is allowed.
void train(Tensors& weights, int steps, const Trainer& trainer);

// Part 5. The same result by a parameter server, which is rank 0. Only send, recv, isend and irecv are used,
// and each message has rank 0 at one end. It begins with rank 0's weights on all ranks. In every step all
// ranks compute; the others send the server their gradients (and how many samples they had), the server
// averages, takes the step and sends the new weights to all. optimize() is called on the server only, once a
// step. In a step no rank but the server sends more than its gradients and one number.
void train_with_server(Tensors& weights, int steps, const Trainer& trainer);

}  // namespace lab
