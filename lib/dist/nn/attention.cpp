#include "dist/nn/attention.h"

#include <cmath>
#include <utility>

#include "dist/core/axes.h"
#include "dist/core/counted.h"
#include "dist/nn/ops.h"

namespace dist::nn {

namespace {

AttentionLayerOptions checked(std::int64_t width, AttentionLayerOptions options) {
  if (options.kv_heads == 0) options.kv_heads = options.heads;
  if (width < 1 || options.heads < 1 || width % options.heads != 0)
    fail(Errc::invalid_argument, "CausalSelfAttention: {} heads do not divide the width {}", options.heads,
         width);
  if (options.kv_heads < 1 || options.heads % options.kv_heads != 0)
    fail(Errc::invalid_argument, "CausalSelfAttention: {} of keys and values do not divide {}",
         counted(options.kv_heads, "head"), counted(options.heads, "head"));
  if (options.rotary && width / options.heads % 2 != 0)
    fail(Errc::invalid_argument,
         "CausalSelfAttention: rotary positions rotate pairs, and a head of size {} is not made of pairs",
         width / options.heads);
  return options;
}

// Rotates each run of tokens by the run's own positions.
void rotate(const Heads& heads, const std::vector<Position::Run>& runs, double base, int direction) {
  const Ops& ops = ops_for(heads.of.device());
  if (runs.size() == 1) return ops.rotate(heads, runs[0].first, base, direction);
  Tensor all = heads.of;
  std::int64_t at = 0;
  for (const Position::Run& run : runs) {
    const Tensor part = narrow(all, 1, at, run.count);
    ops.rotate({part, heads.first, heads.count, heads.size}, run.first, base, direction);
    put(all, 1, at, part);
    at += run.count;
  }
}

}  // namespace

void AttentionCore::forward(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                            const AttentionOptions& options) const {
  ops_for(q.of.device()).attention(std::move(out), std::move(lse), q, k, v, options);
}

void AttentionCore::backward(RowOps::AttentionGrads grads, const Heads& grad_out, const Heads& out,
                             const Tensor& lse, const Heads& q, const Heads& k, const Heads& v,
                             const AttentionOptions& options) const {
  ops_for(q.of.device()).attention_backward(std::move(grads), grad_out, out, lse, q, k, v, options);
}

CausalSelfAttention::CausalSelfAttention(std::int64_t width, AttentionLayerOptions options)
    : options_(checked(width, options)),
      size_(width / options_.heads),
      c_attn_(width, (options_.heads + 2 * options_.kv_heads) * size_, {.bias = options_.bias}),
      c_proj_(width, width, {.bias = options_.bias}),
      resid_dropout_(options_.dropout, 2 * options_.layer + 1) {
  register_module("c_attn", c_attn_);
  register_module("c_proj", c_proj_);
  register_module("resid_dropout", resid_dropout_);
}

std::string CausalSelfAttention::str() const {
  return fmt::format("CausalSelfAttention({}, {})", options_.heads * size_, counted(options_.heads, "head"));
}

CausalSelfAttention::Parts CausalSelfAttention::parts_of(const Tensor& qkv) const {
  const std::int64_t group = options_.heads / options_.kv_heads;
  const std::int64_t kv = qkv.size(2) / size_ / (group + 2), q = group * kv;
  return {{qkv, 0, q, size_}, {qkv, q * size_, kv, size_}, {qkv, (q + kv) * size_, kv, size_}};
}

Tensor CausalSelfAttention::run_forward(const Tensor& input) {
  if (input.dim() != 3) fail_shape(str(), input, "[batch, time, width]");
  bool needs_grad = wants_input_grad();
  const Tensor qkv = forward_child(c_attn_, input, needs_grad);
  const Parts parts = parts_of(qkv);
  const std::int64_t batch = qkv.size(0), time = qkv.size(1), heads = parts.q.count;
  AttentionOptions options;
  options.scale = 1 / std::sqrt(static_cast<double>(size_));
  const auto runs = position().tokens.empty() ? std::vector<Position::Run>{{0, time}} : position().tokens;
  options.first_query = options.first_key = runs.front().first;
  options.dropout =
      draw_at(position(), 2 * options_.layer, is_training() ? options_.dropout : 0, heads * time, time);
  options.dropout.all_rows = options_.heads * time;
  options.dropout.first_row = first_head_ * time;
  if (options_.rotary)
    for (const Heads& rotated : {parts.q, parts.k}) rotate(rotated, runs, options_.rotary_base, 1);
  Tensor out = empty({batch, time, heads * size_}, qkv.dtype(), qkv.device());
  Tensor lse = empty({batch, heads, time}, compute_dtype(qkv.dtype()), qkv.device());
  core_->forward({out, 0, heads, size_}, lse, parts.q, parts.k, parts.v, options);
  if (needs_grad) forwards_.keep({qkv, out, lse, options, runs});
  out = forward_child(c_proj_, out, needs_grad);
  return forward_child(resid_dropout_, out, needs_grad);
}

Tensor CausalSelfAttention::run_backward(const Tensor& grad_output) {
  const Tensor grad_out = c_proj_.backward(resid_dropout_.backward(grad_output));
  if (!grad_out.is_defined()) return {};  // neither c_attn nor anything before it is trained
  const Forward forward = forwards_.take();
  const Tensor grad_qkv = zeros_like(forward.qkv);
  const Parts parts = parts_of(forward.qkv), grads = parts_of(grad_qkv);
  const std::int64_t heads = parts.q.count;
  core_->backward({grads.q, grads.k, grads.v}, {grad_out, 0, heads, size_}, {forward.out, 0, heads, size_},
                  forward.lse, parts.q, parts.k, parts.v, forward.options);
  if (options_.rotary)
    for (const Heads& rotated : {grads.q, grads.k}) rotate(rotated, forward.runs, options_.rotary_base, -1);
  return c_attn_.backward(grad_qkv);
}

}  // namespace dist::nn
