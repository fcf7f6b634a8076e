// CausalSelfAttention: each token attends to itself and to the tokens before it, in several heads. The parts,
// and the names of its parameters, are nanoGPT's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/nn/checks.h"
#include "dist/nn/dropout.h"
#include "dist/nn/linear.h"
#include "dist/nn/module.h"
#include "dist/nn/row_ops.h"

namespace dist::nn {

struct AttentionLayerOptions {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  // grouped heads: each key and value serves heads / kv_heads queries; 0: heads
  bool bias = true;
  double dropout = 0;   // of the probabilities, and of the output
  bool rotary = false;  // rotates queries and keys by their positions (row_ops.h)
  double rotary_base = 10'000;
  std::uint64_t layer = 0;  // tells the layers of one model apart, for dropout
};

// What is computed between the two linear layers, for tokens that follow one another. A context-parallel
// group replaces it.
class AttentionCore {
 public:
  virtual ~AttentionCore() = default;
  virtual void forward(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                       const AttentionOptions& options) const;
  virtual void backward(RowOps::AttentionGrads grads, const Heads& grad_out, const Heads& out,
                        const Tensor& lse, const Heads& q, const Heads& k, const Heads& v,
                        const AttentionOptions& options) const;
};

// Input and output [batch, time, width]. c_attn computes queries, keys and values in one product: weight
// [(heads + 2 kv_heads) size, width] with size = width / heads, first all queries, then all keys, then all
// values, each by heads; c_proj: weight [width, heads size].
class CausalSelfAttention : public Module {
 public:
  // Throws Error{invalid_argument} for heads that do not divide the width, kv_heads that do not divide the
  // heads, and rotary positions with heads of odd size.
  CausalSelfAttention(std::int64_t width, AttentionLayerOptions options = {});
  std::string str() const override;  // "CausalSelfAttention(128, 4 heads)"

  Linear& c_attn() { return c_attn_; }
  Linear& c_proj() { return c_proj_; }
  std::int64_t head_size() const { return size_; }
  std::int64_t heads() const { return options_.heads; }
  std::int64_t kv_heads() const { return options_.kv_heads; }
  const std::shared_ptr<const AttentionCore>& core() const { return core_; }
  void set_core(std::shared_ptr<const AttentionCore> core) { core_ = std::move(core); }
  // c_attn and c_proj are slices with fewer heads: the first is head number `head` of the whole layer.
  void set_first_head(std::int64_t head) { first_head_ = head; }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;
  struct Parts {
    Heads q, k, v;
  };
  Parts parts_of(const Tensor& qkv) const;

  AttentionLayerOptions options_;
  std::int64_t size_;  // of a head
  std::int64_t first_head_ = 0;
  Linear c_attn_, c_proj_;
  Dropout resid_dropout_;
  std::shared_ptr<const AttentionCore> core_ = std::make_shared<AttentionCore>();
  struct Forward {
    Tensor qkv, out, lse;
    AttentionOptions options;
    std::vector<Position::Run> runs;
  };
  Kept<Forward> forwards_{*this};
};

}  // namespace dist::nn
