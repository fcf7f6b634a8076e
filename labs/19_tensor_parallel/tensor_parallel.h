// Lab 19, the specification: every rank computes a part of each layer, for the same tokens. You write these
// functions in tensor_parallel.cpp. Do not change this file.
//
// A group of n ranks shares the layers. It need not be the default group: rank r of the group may be any rank
// of the job, and every collective gets `.group`. t is the number of tokens. Activations are matrices {t,
// width}, and weights are stored as PyTorch stores them, {outputs, inputs}. All tensors of a call have one
// dtype, f32 or f64, except that Part 4 has f64 only. No function changes its const arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

using dist::ProcessGroup, dist::Tensor;

// ------------------------------------------------------------------------------------- what you are given

// The entries [first, first + count) of an axis.
struct Range {
  std::int64_t first = 0, count = 0;
};

// Which of `size` entries rank r of n has, by the rule of torch.chunk: ceil(size / n) each, until none are
// left. Example: 5 entries on 4 ranks: {0, 2}, {2, 2}, {4, 1}, {5, 0}.
inline Range part_of(std::int64_t size, int rank, int n) {
  const std::int64_t most = (size + n - 1) / n, first = std::min(rank * most, size);
  return {first, std::min(most, size - first)};
}
// The same for this rank of the group.
inline Range own_part(std::int64_t size, const ProcessGroup& group) {
  return part_of(size, group.rank(), group.size());
}

// Copies of some rows of a matrix, or of some entries of a vector; of some columns of a matrix; and of
// several matrices (or vectors), one below the other.
inline Tensor copy_of_rows(const Tensor& t, Range range) {
  return t.narrow(range.first, range.count).clone();
}
inline Tensor copy_of_columns(const Tensor& matrix, Range range) {
  Tensor part = dist::empty({matrix.size(0), range.count}, matrix.dtype());
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * dist::size_of(matrix.dtype());
  };
  for (std::int64_t i = 0; range.count > 0 && i < matrix.size(0); ++i)
    std::memcpy(static_cast<char*>(part.raw()) + bytes(i * range.count),
                static_cast<const char*>(matrix.raw()) + bytes(i * matrix.size(1) + range.first),
                bytes(range.count));
  return part;
}
inline Tensor stacked(const std::vector<Tensor>& parts) {
  dist::Shape shape = parts.front().shape();
  shape[0] = 0;
  for (const Tensor& part : parts) shape[0] += part.size(0);
  Tensor all = dist::empty(shape, parts.front().dtype());
  std::int64_t at = 0;
  for (const Tensor& part : parts) {
    all.narrow(at, part.size(0)).copy_(part);
    at += part.size(0);
  }
  return all;
}

// A linear layer, y = x weight^T + bias, or one rank's part of it.
struct Linear {
  Tensor weight, bias;                    // {outputs, inputs}, {outputs}
  Tensor weight_gradient, bias_gradient;  // of the same shapes
};
// The layer of these tensors, with gradients of zeros.
inline Linear with_gradients(const Tensor& weight, const Tensor& bias) {
  return {weight, bias, dist::zeros_like(weight), dist::zeros_like(bias)};
}

// The ranks that share the layers, and the arithmetic.
struct Context {
  ProcessGroup group;
  // x {t, inputs}, weight {outputs, inputs}, bias {outputs} or Tensor{} for none. Returns x weight^T + bias,
  // {t, outputs}.
  std::function<Tensor(const Tensor& x, const Tensor& weight, const Tensor& bias)> multiply;
  // grad {t, outputs}: the gradient of a layer's output. Returns grad weight, {t, inputs}: what this weight
  // contributes to the gradient of the layer's input.
  std::function<Tensor(const Tensor& grad, const Tensor& weight)> input_gradient;
  // ADDS grad^T x to layer.weight_gradient, and the sum of grad's rows to layer.bias_gradient.
  std::function<void(Linear& layer, const Tensor& x, const Tensor& grad)> add_gradients;
};

// ----------------------------------------------------------------------------- Part 1: two kinds of layer

// Part 1. This rank's part of a column-parallel layer: the outputs own_part(outputs, group). (A column of the
// mathematician's weight is a row of PyTorch's.)
// - Output: copies of the weight's rows and of the bias's entries; gradients of zeros. No communication.
// - Constraint: the result shares no memory with `whole`, which is released afterwards.
// - Example: weight {3, 2} = {{1, 2}, {3, 4}, {5, 6}} on two ranks: rank 0 has {{1, 2}, {3, 4}}, rank 1 {{5,
//   6}}.
Linear cut_column(const Linear& whole, const ProcessGroup& group);

// Part 1. This rank's part of a row-parallel layer: the inputs own_part(inputs, group), and the whole
// bias.
// - Output, constraint: as above.
// - Example: weight {2, 3} = {{1, 2, 3}, {4, 5, 6}} on two ranks: rank 0 has {{1, 2}, {4, 5}}, rank 1 {{3},
//   {6}}.
Linear cut_row(const Linear& whole, const ProcessGroup& group);

// Part 1. Forward of a column-parallel layer.
// - Input: the whole x, the same on all ranks. Output: this rank's columns of y. No communication.
Tensor column_forward(const Linear& layer, const Tensor& x, const Context& context);

// Part 1. Backward of a column-parallel layer.
// - Input: what forward was given; the gradient of this rank's columns of y. Output: the whole gradient of x,
//   the same on all ranks. This rank's part of the layer has its gradients added.
// - Constraint: ONE all_reduce of t * inputs elements. It is in flight while add_gradients() computes.
Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context);

// Part 1. Forward of a row-parallel layer.
// - Input: the columns of x that belong to this rank's part. Output: the whole y, the same on all ranks.
// - Constraint: ONE all_reduce of t * outputs elements.
// - Example: t = 1, one output, weight {2, 3}, bias 10, x = {1, 1}, two ranks: both return {15}.
Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context);

// Part 1. Backward of a row-parallel layer.
// - Input: what forward was given; the whole gradient of y, the same on all ranks. Output: the gradient of
//   this rank's columns of x. Gradients are added. No communication.
Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context);

// --------------------------------------------------------------------------------------- Part 2: the pair

// A column-parallel layer, and a row-parallel one after it. What is between them works on this rank's columns
// alone: an activation function in an MLP, attention in a block of attention. You are given it.
struct Pair {
  Linear first, second;
};
struct Middle {
  std::function<Tensor(const Tensor& hidden)> forward;  // the output of `first` -> the input of `second`
  // hidden as before; the gradient of forward's output -> the gradient of hidden
  std::function<Tensor(const Tensor& hidden, const Tensor& grad)> backward;
};
// What forward keeps for backward.
struct Kept {
  Tensor x;       // in Part 2, the whole input; in Part 5, this rank's tokens of it
  Tensor hidden;  // output of `first`
  Tensor inner;   // input of `second`
};

// Part 2. Forward of a pair: x {t, width}, whole on all ranks, to y {t, width}, whole on all ranks.
// - Output: y; and `kept`, for pair_backward.
// - Constraint: ONE all_reduce, of t * width elements. The weights stay where they are.
Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept);

// Part 2. Backward of a pair.
// - Input: what forward kept; the whole gradient of y. Output: the whole gradient of x. The gradients of both
//   layers are added.
// - Constraint: ONE all_reduce, of t * width elements.
Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context);

// ------------------------------------------------------------------------------------------ Part 3: heads

// Part 3. This rank's part of a block of attention with `heads` heads of d columns each; width = heads * d.
// - Input: whole.first computes queries, keys and values at once: its weight has 3 * width rows, first those
//   of all queries, then those of all keys, then those of all values, each by heads. whole.second takes the
//   outputs of all heads, {t, width}.
// - Output: this rank's part of the pair; its heads are own_part(heads, group). Its `first` has the rows of
//   its queries, then of its keys, then of its values; its `second` has the columns of its heads. As in Part
//   1, copies and gradients of zeros. A rank may have no head.
// - Example: 2 heads, d = 1, two ranks. The rows of `first` are q0 q1 k0 k1 v0 v1. Rank 1 has q1 k1 v1.
Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group);

// ------------------------------------------------------------------------------------- Part 4: vocabulary

// Part 4. The embedding of tokens, with a table {vocabulary, width} that is divided by rows.
// - Input: this rank's rows of the table, and which ones these are in the whole table; the tokens, the same
//   on all ranks, each a row of the whole table. Output: {t, width}, whole on all ranks: row i is the row of
//   the table that belongs to tokens[i].
// - Constraint: ONE all_reduce, of t * width elements.
// - Example: a table {{5}, {6}, {7}} on two ranks. Rank 1 has {{7}} and rows = {2, 1}. The tokens {2, 0} give
//   {{7}, {5}} on both.
Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group);

// Part 4. ADDS to `table_gradient`, for each of the tokens that this rank has, the row of `grad` that belongs
// to it. No communication. A token may occur several times.
void embedding_backward(Tensor& table_gradient, Range rows, const std::vector<std::int64_t>& tokens,
                        const Tensor& grad);

struct Loss {
  double mean = 0;  // the cross-entropy loss, averaged over the tokens
  Tensor gradient;  // of this mean, with respect to this rank's logits
};
// Part 4. The cross-entropy loss of logits {t, vocabulary} whose columns are divided among the ranks.
// - Input: this rank's columns {t, columns.count}, and which ones these are; for each token, the number of
//   the right column, the same on all ranks. A rank may have no column. Logits are finite, of any size
//   (10,000 and -1e12 too: take differences of logits before you add anything to them). Output: the mean over
//   the tokens of log(sum of exp(logits)) - logits[target], the same on all ranks; and the gradient of this
//   rank's logits, {t, columns.count}.
// - Constraint: at most THREE all_reduces, of at most 3 t elements together.
// - Example: logits {{0, 0, 0, 0}}, target 3: log 4 = 1.3863. Gradient: {{0.25, 0.25, 0.25, -0.75}}, of which
//   each rank returns its columns.
Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group);

// ------------------------------------------------------------------------------ Part 5: sequence parallel

// Outside the pairs, each rank has t/n of the tokens: group rank r has rows [r t/n, (r + 1) t/n). n divides
// t.

// You are given it: a gather in flight. `all` has the tokens of all ranks as soon as work.wait() has
// returned.
struct Gather {
  Tensor all;
  dist::Work work = {};
};
// Starts ONE all_gather_into_tensor of this rank's tokens, and returns without waiting for it.
inline Gather start_gather(const Tensor& mine, const ProcessGroup& group) {
  Gather gather{dist::empty({mine.size(0) * group.size(), mine.size(1)}, mine.dtype())};
  gather.work = dist::all_gather_into_tensor(gather.all, mine, {.group = group, .async_op = true});
  return gather;
}

// Part 5. As pair_forward, but x and the result are this rank's tokens, {t/n, width}.
// - Output: this rank's rows of y; `kept`, whose x is this rank's tokens alone.
// - Constraint: ONE all_gather_into_tensor and ONE reduce_scatter_tensor, each with t * width elements on all
//   ranks together.
Tensor sequence_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                        Kept& kept);

// Part 5. As pair_backward, but grad and the result are this rank's tokens, {t/n, width}.
// - Constraint: TWO all_gather_into_tensor (of grad, and of x once more) and ONE reduce_scatter_tensor, each
//   with t * width elements on all ranks together. The gather of x starts when that of grad is done, and is
//   in flight while `second` and `middle` compute; the reduce-scatter is in flight while the gradients of
//   `first` are added.
Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context);

// Part 5. Parameters outside the pairs (norms) are whole on every rank, but each rank has seen its own tokens
// only: its gradients of them are summands. Replaces each gradient by the sum over the ranks.
// - Input: the gradients, of any shapes, the same shapes on all ranks.
// - Constraint: ONE all_reduce for all of them.
// - Example: {1} and {2, 3} on rank 0, {10} and {20, 30} on rank 1: both end with {11} and {22, 33}.
void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group);

}  // namespace lab
