// What a device must do for a transformer, as ops.h: rows (normalisation, activation, embedding, dropout,
// cross entropy) and attention. A tensor's last axis is a row; all leading axes act as one. Arguments have
// been checked.
#pragma once

#include <cstdint>

#include "dist/core/tensor.h"

namespace dist::nn {

// LayerNorm's and RMSNorm's tensors.
struct RowNorm {
  Tensor weight, bias;  // [width]; bias may be undefined
  // [rows], written by the forward, f32 under bf16; mean is undefined for RMSNorm, which has none
  Tensor mean, invstd;
};
struct RowNormGrads {
  Tensor weight, bias, in;  // weight and bias are added to, and each may be undefined
};

enum class Activation : std::uint8_t { gelu, gelu_tanh, silu };

// Which numbers a Dropout draws: those of the whole tensor's elements, of which this rank may have a slice.
struct DropoutDraw {
  double p = 0;           // of an element to become 0; the others are multiplied by 1 / (1 - p)
  std::uint64_t key = 0;  // the layer, the step and the seed, mixed
  // In a step that is recorded as a graph: where the device finds the number of the step, and what makes the
  // key with it. Null: `key` is complete.
  const std::int64_t* step = nullptr;
  std::uint64_t seed = 0, layer = 0;
  // Element (i, j, k) of a tensor seen as [outer, rows, width] has number ((i + first_outer) * all_rows + j +
  // first_row) * all_width + k + first_column.
  std::int64_t rows = 1, width = 1;
  std::int64_t all_rows = 1, all_width = 1;
  std::int64_t first_outer = 0, first_row = 0, first_column = 0;
};

// Heads in the columns of a tensor of rows: element (b, t, h, d) is at column first + h * size + d of row
// b * time + t. So q, k and v can be in one tensor.
struct Heads {
  Tensor of;  // [batch, time, width]
  std::int64_t first = 0;
  std::int64_t count = 1, size = 1;

  std::int64_t batch() const { return of.size(0); }
  std::int64_t time() const { return of.size(1); }
  std::int64_t width() const { return of.size(2); }
};

struct AttentionOptions {
  double scale = 1;    // of the scores q k
  bool causal = true;  // query i sees keys up to its own position
  // The positions of the first query and the first key: a rank of a context-parallel group has a slice of the
  // sequence.
  std::int64_t first_query = 0, first_key = 0;
  DropoutDraw dropout;  // of the probabilities, [batch * heads, queries, keys]
};

class RowOps {
 public:
  virtual ~RowOps() = default;

  // out = (in - mean) invstd weight + bias
  virtual void row_norm(Tensor out, const Tensor& in, RowNorm norm, double eps) const = 0;
  virtual void row_norm_backward(RowNormGrads grads, const Tensor& grad_out, const Tensor& in,
                                 const RowNorm& norm) const = 0;

  virtual void activate(Tensor out, const Tensor& in, Activation activation) const = 0;
  // grad_in may be grad_out.
  virtual void activate_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                                 Activation activation) const = 0;

  // out[i] = table[indices[i] - first], 0 where the table has no such row. indices: i64.
  virtual void gather_rows(Tensor out, const Tensor& table, const Tensor& indices,
                           std::int64_t first) const = 0;
  // table[indices[i] - first] += grad[i], in the order of i; a row of bf16 is rounded once
  virtual void add_to_rows(Tensor table, const Tensor& grad, const Tensor& indices,
                           std::int64_t first) const = 0;

  // out may be in.
  virtual void dropout(Tensor out, const Tensor& in, const DropoutDraw& draw) const = 0;

  // Writes the loss of each row of logits to `losses`, then replaces the row by the gradient of that loss:
  // (softmax - one-hot) / count. A row whose target is `ignored` has loss and gradient 0; one with any other
  // target that is not a column has loss NaN. losses: f64. count: [] f64; if it is 0, all gradients are 0.
  virtual void cross_entropy(Tensor logits, Tensor losses, const Tensor& targets, std::int64_t ignored,
                             const Tensor& count) const = 0;
  // count = how many targets are not `ignored`. [] f64.
  virtual void count_targets(Tensor count, const Tensor& targets, std::int64_t ignored) const = 0;

  // Attention: softmax(scale q k^T) v for each head; k and v may have fewer heads, each of which then serves
  // several of q's in a row. lse: [batch, heads, queries], f32 under bf16, the logarithm of each softmax's
  // denominator; -inf for a query without keys, whose output is 0.
  virtual void attention(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                         const AttentionOptions& options) const = 0;
  // Adds to the gradients of q, k and v. `out` and `lse` are those of the whole attention, even if these keys
  // are only a slice of it.
  struct AttentionGrads {
    Heads q, k, v;
  };
  virtual void attention_backward(AttentionGrads grads, const Heads& grad_out, const Heads& out,
                                  const Tensor& lse, const Heads& q, const Heads& k, const Heads& v,
                                  const AttentionOptions& options) const = 0;

  // Attention to some keys, merged with that to others: the queries from `first` on of `out` and `lse` become
  // those of both softmaxes together. part and part_lse: [batch, queries, width] and [batch, heads, queries];
  // out and lse, of more queries, are both in the dtype of lse.
  virtual void merge_attention(Tensor out, Tensor lse, const Tensor& part, const Tensor& part_lse,
                               std::int64_t first) const = 0;

  // Rotates the pairs (d, d + size / 2) of each head by `direction` (1 or -1) times position / base^(2d /
  // size): rotary positions (Su et al. 2021), with the pairs of Llama.
  virtual void rotate(Heads heads, std::int64_t first_position, double base, int direction) const = 0;
};

}  // namespace dist::nn
