// GPT: a transformer that predicts the next token, like GPT-2 (Radford et al. 2019), with nanoGPT's
// configuration and parameter names; its options also make a small Llama. Its parts are Mlp and Block.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/nn/attention.h"
#include "dist/nn/dropout.h"
#include "dist/nn/embedding.h"
#include "dist/nn/linear.h"
#include "dist/nn/module.h"
#include "dist/nn/random.h"
#include "dist/nn/row_norms.h"
#include "dist/nn/row_ops.h"

namespace dist::nn {

struct GptOptions {
  std::int64_t vocab_size = 65;  // tokens are 0 to vocab_size - 1
  std::int64_t context = 128;    // the longest input, in tokens
  std::int64_t layers = 4, heads = 4, width = 128;
  std::int64_t kv_heads = 0;  // 0: heads
  double dropout = 0;
  bool bias = true;       // of linear layers and LayerNorm
  bool tied = true;       // the head uses the table of the token embedding
  bool rms_norm = false;  // RMSNorm instead of LayerNorm
  bool gated = false;     // SiLU-gated MLP instead of GELU
  bool rotary = false;    // rotary positions instead of learned ones
  // GELU by tanh, as GPT-2 itself has it, instead of the exact one, as nanoGPT has it.
  bool gelu_tanh = false;
  double norm_eps = 1e-5;       // of LayerNorm and RMSNorm
  double rotary_base = 10'000;  // Llama 3 has 500,000

  // The width inside an MLP; 0: 4 width, with a gate two thirds of that, rounded up to a multiple of 8.
  std::int64_t hidden = 0;
};

// Input and output [batch, time, width]: c_proj(GELU(c_fc(x))), or with a gate and Llama's names
// w2(SiLU(w1(x)) w3(x)).
class Mlp final : public Module {
 public:
  explicit Mlp(const GptOptions& options, std::uint64_t layer = 0);
  std::string str() const override { return "Mlp"; }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  const bool gated_;
  const Activation gelu_;
  std::unique_ptr<Linear> gate_;  // w1
  Linear up_, down_;              // c_fc and c_proj, or w3 and w2
  Dropout dropout_;
  struct Forward {
    Tensor up, gate, active;  // up_'s output; with a gate, also gate_'s, before and after the activation
  };
  Kept<Forward> forwards_{*this};
};

// y + mlp(ln_2(y)), where y = x + attn(ln_1(x)): pre-norm.
class Block final : public Module {
 public:
  explicit Block(const GptOptions& options, std::uint64_t layer = 0);
  std::string str() const override { return "Block"; }

  CausalSelfAttention& attn() { return attn_; }
  Mlp& mlp() { return mlp_; }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  std::unique_ptr<Module> ln_1_, ln_2_;
  CausalSelfAttention attn_;
  Mlp mlp_;
};

// The blocks of a pipeline stage: [first, last) of all. The first stage has the embeddings, the last one the
// final norm and the head.
struct GptSlice {
  std::int64_t first = 0, last = -1;  // -1: all
};

// Input [batch, time] i64 with time <= context, output [batch, time, vocab_size]: logits. (A later slice
// takes [batch, time, width], and an earlier one gives it.) Initial weights are nanoGPT's: normal with a
// deviation of 0.02, for projections back into the residual stream 0.02 / sqrt(2 layers); biases 0. Each
// parameter's numbers depend on its name and on manual_seed() alone, so all slices together begin as the
// whole.
class GPT final : public Module {
 public:
  // Throws Error{invalid_argument} for sizes below 1 and what CausalSelfAttention refuses.
  // `key` is used instead of manual_seed(): pass the same one to all slices on one rank.
  explicit GPT(const GptOptions& options = {}, GptSlice slice = {}, std::uint64_t key = random_key());
  std::string str() const override;  // "GPT(4 layers, 4 heads, width 128, context 128)"
  const GptOptions& options() const { return options_; }

  bool has_embedding() const { return wte_ != nullptr; }
  bool has_head() const { return lm_head_ != nullptr; }
  // The blocks of this slice, in order.
  std::vector<Block*> blocks();

 private:
  // "transformer": everything but the head.
  class Trunk final : public Module {
   public:
    explicit Trunk(GPT& gpt) : gpt_(gpt) {}
    using Module::register_module;

   private:
    Tensor run_forward(const Tensor& input) override { return gpt_.trunk_forward(input); }
    Tensor run_backward(const Tensor& grad_output) override { return gpt_.trunk_backward(grad_output); }
    GPT& gpt_;
  };
  // "h": a list of blocks under the numbers that they have in the whole model.
  class Blocks final : public Module {
   public:
    Block& add(const GptOptions& options, std::int64_t number);
    std::vector<std::unique_ptr<Block>> all;

   private:
    Tensor run_forward(const Tensor& input) override;
    Tensor run_backward(const Tensor& grad_output) override;
  };

  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;
  Tensor trunk_forward(const Tensor& input);
  Tensor trunk_backward(const Tensor& grad_output);
  Tensor positions_of(const Tensor& input);
  void initialize(std::uint64_t key);

  const GptOptions options_;
  Trunk transformer_{*this};
  std::unique_ptr<Embedding> wte_, wpe_;
  Dropout drop_;
  Blocks h_;
  std::unique_ptr<Module> ln_f_;
  std::unique_ptr<Linear> lm_head_;
  std::vector<std::int64_t> last_numbers_;  // on a GPU, of the last forward's tokens, and there
  Tensor last_positions_;
};

}  // namespace dist::nn
