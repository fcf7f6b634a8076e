#include "distlab/train/weights/export.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/nn/lora.h"
#include "dist/nn/safetensors.h"

#include "distlab/train/weights/families.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

bool is_llama(const nn::GptOptions& gpt) { return gpt.rms_norm && gpt.gated && gpt.rotary && !gpt.bias; }

bool is_nanogpt(const nn::GptOptions& gpt) {
  return !gpt.rms_norm && !gpt.gated && !gpt.rotary && (gpt.kv_heads == 0 || gpt.kv_heads == gpt.heads) &&
         (gpt.hidden == 0 || gpt.hidden == 4 * gpt.width);
}

const Family& family_for(const nn::GptOptions& gpt) {
  check_export(gpt);
  const auto families = distlab::families();
  return *std::ranges::find_if(
      families, [&](const Family& family) { return family.is_llama == is_llama(gpt) && !family.is_conv1d; });
}

// The next rows of our parameter that belong to the rule: all, unless it is one of a Llama's q, k and v.
std::int64_t rows_of(const NameRule& rule, const nn::GptOptions& gpt, std::int64_t all) {
  if (rule.ours != "h.#.attn.c_attn.weight" || !is_llama(gpt)) return all;
  const std::int64_t kv_heads = gpt.kv_heads > 0 ? gpt.kv_heads : gpt.heads;
  return rule.shape.front() == 'k' ? gpt.width / gpt.heads * kv_heads : gpt.width;
}

nn::StateDict in_their_names(const Family& family, const nn::GptOptions& gpt, const nn::StateDict& ours) {
  nn::StateDict all;
  std::string name_before;
  for (std::int64_t block = 0, first_row = 0; block < gpt.layers; ++block)
    for (const NameRule& rule : family.rules) {
      if (block > 0 && rule.theirs.find('#') == rule.theirs.npos) continue;
      const std::string name = our_name(rule, block);
      const dist::Tensor* const tensor = nn::find(ours, name);
      if (!tensor) continue;  // a bias of a model without
      if (name != name_before) first_row = 0;
      const std::int64_t rows = rows_of(rule, gpt, tensor->size(0));
      all.push_back({their_name(family, rule, block),
                     tensor->to(dist::cpu).to(dist::DType::f32).narrow(first_row, rows)});
      first_row += rows;
      name_before = name;
    }
  return all;
}

// nanoGPT's model_args, or the entries of a Llama's config.json.
std::string settings_text(const nn::GptOptions& gpt) {
  const double usual_eps = nn::GptOptions().norm_eps;
  if (!is_llama(gpt))
    return fmt::format(
        "n_layer={}, n_head={}, n_embd={}, block_size={}, vocab_size={}, bias={}{}{}{}", gpt.layers,
        gpt.heads, gpt.width, gpt.context, gpt.vocab_size, gpt.bias ? "True" : "False",
        gpt.gelu_tanh ? "; its GELU is by tanh: in nanoGPT write nn.GELU(approximate='tanh')" : "",
        gpt.tied ? "" : "; its head is not tied: in nanoGPT leave out wte.weight = lm_head.weight",
        gpt.norm_eps == usual_eps
            ? ""
            : fmt::format("; its norms have epsilon {}: in nanoGPT write it instead of 1e-5", gpt.norm_eps));
  return fmt::format(
      "num_hidden_layers={}, num_attention_heads={}, num_key_value_heads={}, hidden_size={}, "
      "max_position_embeddings={}, vocab_size={}, rms_norm_eps={}, rope_theta={}, tie_word_embeddings={}",
      gpt.layers, gpt.heads, gpt.kv_heads > 0 ? gpt.kv_heads : gpt.heads, gpt.width, gpt.context,
      gpt.vocab_size, gpt.norm_eps, gpt.rotary_base, gpt.tied ? "true" : "false");
}

}  // namespace

void check_export(const nn::GptOptions& gpt) {
  if (!is_llama(gpt) && !is_nanogpt(gpt))
    dist::fail(dist::Errc::invalid_argument,
               "--export has no names for this model: nanoGPT has none of --rms-norm, --gated, --rotary, "
               "--kv-heads and --hidden, a Llama has --rms-norm, --gated, --rotary and --no-bias");
}

std::string export_weights(const std::filesystem::path& file, nn::GPT& model) {
  const Family& family = family_for(model.options());
  const bool has_lora = std::ranges::any_of(model.state_dict(), [](const nn::NamedTensor& named) {
    return named.name.find(".lora_") != named.name.npos;
  });
  if (has_lora) nn::merge_lora(model);
  const nn::StateDict state = in_their_names(family, model.options(), model.state_dict());
  nn::save_safetensors(file, state, "pt");
  if (has_lora) nn::unmerge_lora(model);
  return fmt::format("{}: {} in f32, with the names of a {}: {}", file.string(),
                     dist::counted(state.size(), "tensor"), family.name, settings_text(model.options()));
}

}  // namespace distlab
