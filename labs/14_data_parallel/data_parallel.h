// Lab 14, the specification: n ranks train as one rank would with a batch n times as large.
// You write these functions in data_parallel.cpp. Do not change this file.
//
// Every rank of the default group calls the functions; there are n ranks, possibly 1. A model is a list of
// tensors, its weights, f32 or f64. Its gradients are a list of tensors with the same shapes and dtypes. The
// lists have the same form on all ranks. Results are written in place, that is, in the memory that the caller
// gave.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

using Tensors = std::vector<dist::Tensor>;

// Part 1. All ranks get rank 0's weights.
// - Constraint: only broadcast, and every weight is sent once.
// - Example: rank 3 begins with [30, 30] and rank 0 with [0, 0]. Afterwards every rank has [0, 0].
void broadcast_weights(Tensors& weights);

// Part 2. Every gradient becomes the mean over the ranks, element by element.
// - Constraint: only all_reduce, and every gradient is sent once.
// - Example: four ranks with the gradients [2], [5], [8] and [10] all end with [6.25].
void average_gradients(Tensors& gradients);

// Part 3. Every gradient becomes the mean over the samples of all ranks.
// - Input: this rank's gradients, which are means over its own `samples` samples. A rank may have 0 samples;
//   then its gradients may hold anything, even NaN. At least one rank has a sample.
// - Constraint: only all_reduce: every gradient is sent once, and in addition at most one tensor with one
//   number.
// - Example: gradients [2], [5], [8] and [10] over 3, 3, 3 and 1 samples: all ranks end with [5.5].
void average_over_samples(Tensors& gradients, std::int64_t samples);

// What a rank contributes to the training.
struct Trainer {
  // Writes the gradients of this rank's share of the batch of step 0, 1, 2, ...: means over its samples.
  // Returns the number of these samples. If it is 0, `gradients` are not changed.
  std::function<std::int64_t(int step, const Tensors& weights, Tensors& gradients)> compute;
  // Changes the weights according to the gradients. It keeps its own state between steps (momentum, Adam).
  std::function<void(Tensors& weights, const Tensors& gradients)> optimize;
};

// Part 4. Trains for `steps` steps, beginning with rank 0's weights on all ranks. Without a step (steps = 0),
// all ranks end with these.
// - Output: after every step, all ranks have the weights that one rank would have that computes the whole
//   batch. Only rounding may differ.
// - Constraint: compute() and optimize() are called once per step on every rank. The weights are sent at the
//   beginning, and never again. Only broadcast and all_reduce move data; barrier is allowed.
// - Example: one weight, 1.0 on rank 0 and 7.0 on rank 1; plain gradient descent with a learning rate of 0.1;
//   gradients 1 (over 2 samples) and 4 (over 1 sample). After one step both have 1.0 - 0.1 * 2 = 0.8.
void train(Tensors& weights, int steps, const Trainer& trainer);

// Part 5. The same training by a parameter server, which is rank 0. All ranks begin with rank 0's weights,
// and end with these if there is no step.
// - Constraint: only send, recv, isend and irecv, and every message has rank 0 at one end. In every step all
//   ranks call compute(). The other ranks send the server their gradients and their numbers of samples. The
//   server averages, calls optimize(), and sends the new weights to all ranks. optimize() is called only on
//   the server, once per step. In one step, a rank other than the server sends at most its gradients and one
//   number.
// - Example: a model of two tensors on three ranks: in each step the server receives 2 * 3 messages (a number
//   and two gradients from each rank) and sends 2 * 2.
void train_with_server(Tensors& weights, int steps, const Trainer& trainer);

}  // namespace lab
