// Lab 20, the specification: a model that is cut by layers, and the lists by which its ranks run.
// You write these functions in pipeline_parallel.cpp. Do not change this file.
//
// The ranks are those of the default group. Rank i has stage i of the model, out of p stages. A batch is cut
// into m micro-batches, numbered 0 ... m - 1. Micro-batches may have different numbers of samples, all ranks
// know these, and no micro-batch is empty. All tensors are f64.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. Cuts a model into stages of consecutive layers.
// - Input: the cost of each layer, 0 or more; the number of stages, from 1 to the number of layers.
// - Output: how many layers each stage has, at least 1 each, all layers together. The costliest stage costs
//   as little as possible; if several cuts achieve that, any of them is right.
// - Example: costs {1, 1, 1, 5, 1}, 3 stages: {3, 1, 1}. The costliest stage costs 5.
std::vector<int> cut(const std::vector<double>& costs, int stages);

enum class Kind : std::uint8_t { forward, backward };

// What a rank computes. (Messages follow from it: step() knows which result comes from where.)
struct Action {
  Kind kind = Kind::forward;
  int micro_batch = 0;
  bool operator==(const Action&) const = default;
};

// Part 2. The list of rank i of p: all forwards, then all backwards, both in the order of the micro-batches.
// - Input: rank, from 0 to ranks - 1; m >= 1. No communication.
// - Example: m = 2, on every rank: F0 F1 B0 B1.
std::vector<Action> gpipe(int rank, int ranks, int micro_batches);

// Part 2. One forward, one backward (1F1B). Forwards and backwards are both in the order of the
// micro-batches.
// - Output: rank i first runs forwards until w = min(m, p - i) micro-batches are in flight (their forward has
//   run, their backward has not). Then it runs one backward and one forward alternately, as long as there are
//   forwards, and then the remaining backwards. At no time are more than w micro-batches in flight.
// - Example: p = 2, m = 3. Rank 0: F0 F1 B0 F2 B1 B2. Rank 1: F0 B0 F1 B1 F2 B2.
std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches);

// The loss of one micro-batch: the sum over its samples, and the gradient of this sum with respect to the
// output.
struct Loss {
  double sum = 0;
  dist::Tensor gradient;
};

// What this rank's stage computes. You are given these functions. Backward runs once per micro-batch, after
// its forward. Forward keeps its input (the tensor itself, not a copy) until backward has run, so nothing may
// be written into it.
struct Stage {
  std::int64_t inputs = 0, outputs = 0;  // elements per sample
  // Input: {samples, inputs}. Output: {samples, outputs}.
  std::function<dist::Tensor(int micro_batch, const dist::Tensor& input)> forward;
  // Input: the gradient of the stage's output. It ADDS to the gradients of the stage's weights.
  // Output: the gradient of the stage's input.
  std::function<dist::Tensor(int micro_batch, const dist::Tensor& gradient)> backward;
  // Only on the last rank: the loss of the stage's output.
  std::function<Loss(int micro_batch, const dist::Tensor& output)> loss;
};

struct Batch {
  std::vector<std::int64_t> samples;  // of each micro-batch
  std::vector<dist::Tensor> inputs;   // only on rank 0: each micro-batch, {samples, inputs}
};

// Part 3. One training step of this rank: runs the list.
// - Input: this rank's list, in which every micro-batch has one forward and, later, one backward; the batch;
//   this rank's stage. All ranks' lists have the forwards in the same order, and the backwards, too.
// - Output: the gradients of the weights are those of the mean loss over ALL samples of the batch, as on one
//   rank. Returns this mean loss on the last rank, and 0 on the others.
// - Constraint: it calls forward and backward in the order of the list. Outputs go to the next
//   rank, gradients of inputs to the rank before, one message per micro-batch, boundary and direction. The
//   messages between two computations are started together, by one batch_isend_irecv: a send waits until its
//   receiver is there, and in 1F1B two neighbours send to each other at the same time. No other call of the
//   library communicates. A computation waits for its input and for the computation before it, not for a
//   send, whose receiver may be busy. Every Work has been waited for when step() returns, and no sent tensor
//   has been changed. In 1F1B memory does not grow with m: a receive's tensor is allocated when its turn
//   comes, and a sent one is released when its Work is_completed(). Without latency, with stages that take
//   equally long, a step takes (m + p - 1) / m times as long as a rank computes.
// - Example: 2 ranks, 2 micro-batches of 3 samples and 1 sample, with losses 6 and 4 (sums): the last rank
//   returns (6 + 4) / 4 = 2.5.
double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage);

}  // namespace lab
