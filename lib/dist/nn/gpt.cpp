// The parts of a transformer, from the inside out: Mlp, Block, GPT with its trunk. Each backward() is its
// forward() read from the end.
#include "dist/nn/gpt.h"

#include <cmath>
#include <ranges>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/device/recording.h"
#include "dist/nn/gpt_flops.h"
#include "dist/nn/ops.h"
#include "dist/nn/random.h"
#include "dist/nn/row_functors.h"

namespace dist::nn {

namespace {

std::unique_ptr<Module> make_norm(const GptOptions& options) {
  if (options.rms_norm) return std::make_unique<RMSNorm>(options.width, options.norm_eps);
  return std::make_unique<LayerNorm>(options.width,
                                     LayerNormOptions{.eps = options.norm_eps, .bias = options.bias});
}

AttentionLayerOptions attention_of(const GptOptions& options, std::uint64_t layer) {
  return {.heads = options.heads,
          .kv_heads = options.kv_heads,
          .bias = options.bias,
          .dropout = options.dropout,
          .rotary = options.rotary,
          .rotary_base = options.rotary_base,
          .layer = 2 * layer};
}

std::int64_t hidden_of(const GptOptions& options) {
  if (options.hidden > 0) return options.hidden;
  return options.gated ? (8 * options.width / 3 + 7) / 8 * 8 : 4 * options.width;
}

// Dropout layers are numbered 4 layer + 0 and + 1 in the attention, + 2 in the MLP, + 3 after the embeddings.
constexpr std::uint64_t mlp_dropout(std::uint64_t layer) { return 4 * layer + 2; }
constexpr std::uint64_t embedding_dropout = 3;

// A key of its own for each name.
std::uint64_t named_key(std::uint64_t key, std::string_view name) {
  for (const char letter : name) key = functors::mix(key, static_cast<unsigned char>(letter));
  return key;
}

}  // namespace

Mlp::Mlp(const GptOptions& options, std::uint64_t layer)
    : gated_(options.gated),
      gelu_(options.gelu_tanh ? Activation::gelu_tanh : Activation::gelu),
      up_(options.width, hidden_of(options), {.bias = options.bias}),
      down_(hidden_of(options), options.width, {.bias = options.bias}),
      dropout_(options.dropout, mlp_dropout(layer)) {
  if (gated_) {
    gate_ = std::make_unique<Linear>(options.width, hidden_of(options), LinearOptions{.bias = options.bias});
    register_module("w1", *gate_);
  }
  register_module(gated_ ? "w3" : "c_fc", up_);
  register_module(gated_ ? "w2" : "c_proj", down_);
  register_module("dropout", dropout_);
}

Tensor Mlp::run_forward(const Tensor& input) {
  bool needs_grad = wants_input_grad(), gate_needs_grad = needs_grad;
  Forward forward{forward_child(up_, input, needs_grad), {}, {}};
  const Ops& ops = ops_for(input.device());
  Tensor hidden = empty_like(forward.up);
  if (gated_) {
    forward.gate = forward_child(*gate_, input, gate_needs_grad);
    needs_grad = needs_grad || gate_needs_grad;
    forward.active = empty_like(forward.gate);
    ops.activate(forward.active, forward.gate, Activation::silu);
    hidden.copy_(forward.active).mul_(forward.up);
  } else {
    ops.activate(hidden, forward.up, gelu_);
  }
  if (needs_grad) forwards_.keep(std::move(forward));
  hidden = forward_child(down_, hidden, needs_grad);
  return forward_child(dropout_, hidden, needs_grad);
}

Tensor Mlp::run_backward(const Tensor& grad_output) {
  Tensor grad = down_.backward(dropout_.backward(grad_output));
  if (!grad.is_defined()) return {};  // nothing before down_ is trained
  const Forward forward = forwards_.take();
  const Ops& ops = ops_for(grad.device());
  if (!gated_) {
    ops.activate_backward(grad, grad, forward.up, gelu_);
    return up_.backward(grad);
  }
  const Tensor grad_gate = grad.clone().mul_(forward.up);
  Tensor grad_input = up_.backward(grad.mul_(forward.active));
  ops.activate_backward(grad_gate, grad_gate, forward.gate, Activation::silu);
  const Tensor of_gate = gate_->backward(grad_gate);
  return grad_input.is_defined() ? grad_input.add_(of_gate) : grad_input;
}

Block::Block(const GptOptions& options, std::uint64_t layer)
    : ln_1_(make_norm(options)),
      ln_2_(make_norm(options)),
      attn_(options.width, attention_of(options, layer)),
      mlp_(options, layer) {
  register_module("ln_1", *ln_1_);
  register_module("attn", attn_);
  register_module("ln_2", *ln_2_);
  register_module("mlp", mlp_);
}

Tensor Block::run_forward(const Tensor& input) {
  bool needs_grad = wants_input_grad();
  const auto branch = [&needs_grad](Module& norm, Module& layer, const Tensor& x) {
    return x + forward_child(layer, forward_child(norm, x, needs_grad), needs_grad);
  };
  return branch(*ln_2_, mlp_, branch(*ln_1_, attn_, input));
}

Tensor Block::run_backward(const Tensor& grad_output) {
  const auto branch = [](Module& norm, Module& layer, const Tensor& grad) {
    const Tensor of_branch = norm.backward(layer.backward(grad));
    return of_branch.is_defined() ? grad + of_branch : of_branch;  // undefined: nothing before is trained
  };
  const Tensor grad = branch(*ln_2_, mlp_, grad_output);
  return grad.is_defined() ? branch(*ln_1_, attn_, grad) : grad;
}

Block& GPT::Blocks::add(const GptOptions& options, std::int64_t number) {
  all.push_back(std::make_unique<Block>(options, static_cast<std::uint64_t>(number)));
  register_module(std::to_string(number), *all.back());
  return *all.back();
}

Tensor GPT::Blocks::run_forward(const Tensor& input) {
  Tensor x = input;
  bool needs_grad = wants_input_grad();
  for (const auto& block : all) x = forward_child(*block, x, needs_grad);
  return x;
}

Tensor GPT::Blocks::run_backward(const Tensor& grad_output) {
  Tensor grad = grad_output;
  for (const auto& block : std::views::reverse(all)) grad = block->backward(grad);
  return grad;
}

GPT::GPT(const GptOptions& options, GptSlice slice, std::uint64_t key)
    : options_(options), drop_(options.dropout, embedding_dropout) {
  if (options.vocab_size < 1 || options.context < 1 || options.layers < 1)
    fail(Errc::invalid_argument, "{}: sizes must be at least 1", str());
  if (slice.last < 0) slice.last = options.layers;
  if (slice.first == 0) {
    skip_input_grad();  // of tokens
    wte_ = std::make_unique<Embedding>(options.vocab_size, options.width);
    transformer_.register_module("wte", *wte_);
    if (!options.rotary) {
      wpe_ = std::make_unique<Embedding>(options.context, options.width);
      transformer_.register_module("wpe", *wpe_);
    }
  }
  transformer_.register_module("drop", drop_);
  for (std::int64_t i = slice.first; i < slice.last; ++i) h_.add(options, i);
  transformer_.register_module("h", h_);
  register_module("transformer", transformer_);
  if (slice.last == options.layers) {
    ln_f_ = make_norm(options);
    transformer_.register_module("ln_f", *ln_f_);
    lm_head_ = options.tied && wte_ ? std::make_unique<Linear>(wte_->weight())
                                    : std::make_unique<Linear>(options.width, options.vocab_size,
                                                               LinearOptions{.bias = false});
    register_module("lm_head", *lm_head_);
  }
  initialize(key);
}

// A tied head on a slice of its own begins as the embedding that it stands for.
void GPT::initialize(std::uint64_t key) {
  for (const auto& [name, parameter] : named_parameters()) {
    Tensor& value = parameter->value;
    if (value.dim() != 2) {
      if (name.ends_with(".bias")) value.zero_();
      continue;
    }
    const bool is_into_residual = name.ends_with("c_proj.weight") || name.ends_with("w2.weight");
    const double deviation =
        is_into_residual ? 0.02 / std::sqrt(2 * static_cast<double>(options_.layers)) : 0.02;
    const std::string drawn_as = options_.tied && name == "lm_head.weight" ? "transformer.wte.weight" : name;
    value.copy_(normal(value.shape(), deviation, named_key(key, drawn_as)));
  }
}

std::string GPT::str() const {
  return fmt::format("GPT({}, {}, width {}, context {})", counted(options_.layers, "layer"),
                     counted(options_.heads, "head"), options_.width, options_.context);
}

std::vector<Block*> GPT::blocks() {
  std::vector<Block*> blocks;
  for (const auto& block : h_.all) blocks.push_back(block.get());
  return blocks;
}

Tensor GPT::run_forward(const Tensor& input) {
  bool needs_grad = wants_input_grad();
  const Tensor x = forward_child(transformer_, input, needs_grad);
  return has_head() ? forward_child(*lm_head_, x, needs_grad) : x;
}

Tensor GPT::run_backward(const Tensor& grad_output) {
  return transformer_.backward(has_head() ? lm_head_->backward(grad_output) : grad_output);
}

Tensor GPT::trunk_forward(const Tensor& input) {
  Tensor x = input;
  bool needs_grad = transformer_.wants_input_grad();
  if (has_embedding()) {
    if (input.dim() != 2 || input.size(1) > options_.context)
      fail_shape(str(), input, fmt::format("[batch, at most {}]", counted(options_.context, "token")));
    x = forward_child(*wte_, input, needs_grad);
    if (wpe_) {
      bool of_positions = false;
      const Tensor table =  // [time, width], for each row of the batch
          forward_child(*wpe_, positions_of(input), of_positions);
      needs_grad = needs_grad || of_positions;
      ops_for(x.device()).add_channels(x.view({x.size(0), table.numel()}), table.view({table.numel()}));
    }
    x = forward_child(drop_, x, needs_grad);
  }
  x = forward_child(h_, x, needs_grad);
  return has_head() ? forward_child(*ln_f_, x, needs_grad) : x;
}

// The position of each token. A GPU keeps those of the last forward: to copy them there each time, the host
// would wait.
Tensor GPT::positions_of(const Tensor& input) {
  if (position().tokens.empty() && input.device() == cpu) return arange(input.size(1), DType::i64, cpu);
  std::vector<std::int64_t> numbers;
  const auto runs =
      position().tokens.empty() ? std::vector<Position::Run>{{0, input.size(1)}} : position().tokens;
  for (const auto& [first, count] : runs)
    for (std::int64_t i = first; i < first + count; ++i) numbers.push_back(i);
  if (input.device() == cpu) return tensor(std::span<const std::int64_t>(numbers), cpu);
  if (!last_positions_.is_defined() || last_positions_.device() != input.device() ||
      last_numbers_ != numbers) {
    last_positions_ = tensor(std::span<const std::int64_t>(numbers), input.device());
    last_numbers_ = std::move(numbers);
  }
  if (Recording* const now = Recording::current()) now->keep(std::make_shared<Tensor>(last_positions_));
  return last_positions_;
}

Tensor GPT::trunk_backward(const Tensor& grad_output) {
  Tensor grad = h_.backward(has_head() ? ln_f_->backward(grad_output) : grad_output);
  if (!has_embedding() || !grad.is_defined()) return grad;
  grad = drop_.backward(grad);
  if (wpe_ && wpe_->trains()) {
    Tensor of_positions = zeros({grad.size(1), grad.size(2)}, grad.dtype(), grad.device());
    ops_for(grad.device())
        .add_channel_sums(of_positions.view({of_positions.numel()}),
                          grad.view({grad.size(0), of_positions.numel()}));
    (void)wpe_->backward(of_positions);
  }
  return wte_->backward(grad);
}

double training_flops_per_token(const GptOptions& o, std::int64_t lora_rank) {
  struct Layer {
    std::int64_t in, out;
  };
  const std::int64_t kv_width = (o.kv_heads > 0 ? o.kv_heads : o.heads) * (o.width / o.heads);
  std::vector<Layer> block{{o.width, o.width + 2 * kv_width},
                           {o.width, o.width},
                           {o.width, hidden_of(o)},
                           {hidden_of(o), o.width}};
  if (o.gated) block.push_back({o.width, hidden_of(o)});
  double whole = 0, added = 0;
  for (const auto& [in, out] : block) {
    whole += static_cast<double>(in * out);
    added += static_cast<double>(lora_rank * (in + out));
  }
  const auto layers = static_cast<double>(o.layers);
  const double weights = layers * whole + static_cast<double>(o.vocab_size * o.width),
               attention = 12 * layers * static_cast<double>(o.context * o.width);
  return (lora_rank > 0 ? 4 : 6) * weights + 6 * layers * added + attention;
}

}  // namespace dist::nn
