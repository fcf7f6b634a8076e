// Ring attention (Liu, Zaharia, Abbeel 2023): each rank has a slice of the sequence; keys and values go round
// the ring while each rank computes its queries against the ones that it has, and partial softmaxes are
// merged.
//
// With n ranks and S bytes of keys and values in the whole sequence, a forward sends (n-1)/n S per rank, in n
// - 1 exchanges that overlap with the computation on the previous block. A backward sends that once more, and
// as much of the gradients of keys and values: a block's gradient begins at the rank after its owner and
// arrives there last, so only its last hop is exposed. In bf16 each rank's part of a result is rounded; parts
// are summed in f32, and the sums of gradients travel in f32.
//
// In two dimensions (Gu et al. 2024, LoongTrain: "Double-Ring-Attention") the ranks are rows of `row` ranks
// each, and a block goes round its row while the block of the next row is already on its way along the
// column. The bytes are the same; n / row - 1 of the n - 1 exchanges cross rows, and each has `row` steps of
// computation to hide behind instead of one. So with a node's ranks as a row, the slow links between nodes
// have `row` times as much time. A backward exposes the last hop in each row.
#pragma once

#include <memory>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/attention.h"
#include "dist/nn/gpt.h"
#include "dist/parallel/context/context_slice.h"

namespace dist {

// Attention over a sequence of which each rank of a group has a slice. forward() and backward() are
// collectives.
class RingAttention final : public nn::AttentionCore {
 public:
  // `slice` may be changed between a backward and the next forward; it must outlive this. `row`: the ranks of
  // a row, a divisor of the group's size, else forward() throws Error{invalid_argument}; 0: one ring of all.
  RingAttention(ProcessGroup group, const ContextSlice& slice, int row = 0)
      : group_(std::move(group)), slice_(slice), row_(row) {}
  // The same ring, in which `block` computes the attention of this rank's queries to one block.
  std::shared_ptr<const RingAttention> with_block(std::shared_ptr<const nn::AttentionCore> block) const;

  // What one rank alone would compute for the tokens of this rank's slice. The options' positions are
  // ignored: the slice has them.
  void forward(nn::Heads out, Tensor lse, const nn::Heads& q, const nn::Heads& k, const nn::Heads& v,
               const nn::AttentionOptions& options) const override;
  void backward(nn::RowOps::AttentionGrads grads, const nn::Heads& grad_out, const nn::Heads& out,
                const Tensor& lse, const nn::Heads& q, const nn::Heads& k, const nn::Heads& v,
                const nn::AttentionOptions& options) const override;

 private:
  ProcessGroup group_;
  const ContextSlice& slice_;
  int row_;
  std::shared_ptr<const nn::AttentionCore> block_ = std::make_shared<nn::AttentionCore>();
};

// The options of ContextParallel.
struct ContextParallelOptions {
  ProcessGroup group = {};  // default: the default group
  bool balanced = true;     // see context_slice.h
  int row = 0;              // see RingAttention: 0 is one ring
};

// Makes a GPT compute with sequences that are divided among the ranks of a group:
//
//   ContextParallel context(gpt, {.group = mesh.get_group("cp")});
//   const Tensor mine = context.slice(tokens);                       // [batch, tokens / n]
//   loss.forward(gpt.forward(mine), context.slice(targets));
//
// The gradients of the parameters are those of this rank's tokens: average them over the group as in data
// parallelism. The average over ranks is the mean over all tokens if each rank has the same number of targets
// that count, or divides by the same number (parallel/targets_per_rank.h):
//
//   const Tensor next = context.slice(targets);
//   loss.forward(gpt.forward(mine), next, targets_per_rank(next, {.group = mesh.get_group("cp")}));
class ContextParallel {
 public:
  // The model must outlive this and has no dropout of the attention's probabilities.
  // Every rank of the group calls it, with the same options.
  explicit ContextParallel(nn::GPT& gpt, const ContextParallelOptions& options = {},
                           Caller at = Caller::here());
  ContextParallel(const ContextParallel&) = delete;  // the model has its address
  ContextParallel& operator=(const ContextParallel&) = delete;
  // This rank's tokens of [batch, tokens, ...], which is equal on all ranks; the next forward() is for them.
  Tensor slice(const Tensor& whole);
  const ContextSlice& slices() const { return slice_; }

 private:
  nn::GPT& gpt_;
  const ProcessGroup group_;
  ContextSlice slice_;
};

// Attention of a few queries, equal on all ranks, to keys and values of which each rank has a slice: what
// generating text with a long context needs. Each rank computes its partial softmax; two all-reduces merge
// them (the largest logarithm, then numerators and denominators together), which takes 2 log2(n) steps where
// a ring takes n - 1 (Shyam et al. 2024, Tree Attention). No mask, no gradient. q [batch, queries, heads
// size], k and v [batch, keys, heads size]; returns [batch, queries, heads size].
Tensor tree_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                      const ProcessGroup& group = {});

}  // namespace dist
