#include "distlab/train/weights/families.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace distlab {
namespace {

constexpr std::array gpt_rules{
    NameRule{"wte.weight", "wte.weight", "vw"},
    NameRule{"wpe.weight", "wpe.weight", "cw"},
    NameRule{"h.#.ln_1.weight", "h.#.ln_1.weight", "w"},
    NameRule{"h.#.ln_1.bias", "h.#.ln_1.bias", "w"},
    NameRule{"h.#.attn.c_attn.weight", "h.#.attn.c_attn.weight", "qw", true},
    NameRule{"h.#.attn.c_attn.bias", "h.#.attn.c_attn.bias", "q"},
    NameRule{"h.#.attn.c_proj.weight", "h.#.attn.c_proj.weight", "ww", true},
    NameRule{"h.#.attn.c_proj.bias", "h.#.attn.c_proj.bias", "w"},
    NameRule{"h.#.ln_2.weight", "h.#.ln_2.weight", "w"},
    NameRule{"h.#.ln_2.bias", "h.#.ln_2.bias", "w"},
    NameRule{"h.#.mlp.c_fc.weight", "h.#.mlp.c_fc.weight", "hw", true},
    NameRule{"h.#.mlp.c_fc.bias", "h.#.mlp.c_fc.bias", "h"},
    NameRule{"h.#.mlp.c_proj.weight", "h.#.mlp.c_proj.weight", "wh", true},
    NameRule{"h.#.mlp.c_proj.bias", "h.#.mlp.c_proj.bias", "w"},
    NameRule{"ln_f.weight", "ln_f.weight", "w"},
    NameRule{"ln_f.bias", "ln_f.bias", "w"},
    NameRule{"lm_head.weight", "lm_head.weight", "vw"},
};
constexpr std::array<std::string_view, 2> gpt_buffers{"h.#.attn.bias", "h.#.attn.masked_bias"};

// Its rotary positions pair (d, d + size / 2), as ours do, so the rows of q and k stay in their order.
constexpr std::array llama_rules{
    NameRule{"embed_tokens.weight", "wte.weight", "vw"},
    NameRule{"layers.#.input_layernorm.weight", "h.#.ln_1.weight", "w"},
    NameRule{"layers.#.self_attn.q_proj.weight", "h.#.attn.c_attn.weight", "ww"},
    NameRule{"layers.#.self_attn.k_proj.weight", "h.#.attn.c_attn.weight", "kw"},
    NameRule{"layers.#.self_attn.v_proj.weight", "h.#.attn.c_attn.weight", "kw"},
    NameRule{"layers.#.self_attn.o_proj.weight", "h.#.attn.c_proj.weight", "ww"},
    NameRule{"layers.#.post_attention_layernorm.weight", "h.#.ln_2.weight", "w"},
    NameRule{"layers.#.mlp.gate_proj.weight", "h.#.mlp.w1.weight", "hw"},
    NameRule{"layers.#.mlp.up_proj.weight", "h.#.mlp.w3.weight", "hw"},
    NameRule{"layers.#.mlp.down_proj.weight", "h.#.mlp.w2.weight", "wh"},
    NameRule{"norm.weight", "ln_f.weight", "w"},
    NameRule{"lm_head.weight", "lm_head.weight", "vw"},
};
constexpr std::array<std::string_view, 2> llama_buffers{"layers.#.self_attn.rotary_emb.inv_freq",
                                                        "rotary_emb.inv_freq"};

constexpr std::string_view gpt_key = "h.0.attn.c_attn.weight", llama_key = "layers.0.self_attn.q_proj.weight";

// The first family that fits is chosen.
constexpr std::array all_families{
    Family{"Hugging Face GPT-2", "transformer.", gpt_key, gpt_rules, gpt_buffers, true, false},
    Family{"nanoGPT", "transformer.", gpt_key, gpt_rules, gpt_buffers, false, false},
    Family{"Hugging Face Llama", "model.", llama_key, llama_rules, llama_buffers, false, true},
};

std::string with_number(std::string_view pattern, std::int64_t block) {
  const auto at = pattern.find('#');
  if (at == pattern.npos) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, at), block, pattern.substr(at + 1));
}

}  // namespace

std::span<const Family> families() { return all_families; }

std::string bare_name(std::string name, const Family& family) {
  constexpr std::string_view compiled = "_orig_mod.", parallel = "module.";
  for (auto at = name.find(compiled); at != name.npos; at = name.find(compiled))
    name.erase(at, compiled.size());
  while (name.starts_with(parallel)) name.erase(0, parallel.size());
  if (name.starts_with(family.prefix)) name.erase(0, family.prefix.size());
  return name;
}

std::optional<std::int64_t> match(std::string_view pattern, std::string_view name) {
  const auto at = pattern.find('#');
  if (at == pattern.npos) return pattern == name ? std::optional<std::int64_t>(0) : std::nullopt;
  const auto before = pattern.substr(0, at), after = pattern.substr(at + 1);
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size())
    return std::nullopt;
  const auto digits = name.substr(before.size(), name.size() - before.size() - after.size());
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  constexpr std::int64_t most_blocks = 1'000'000;
  if (error != std::errc() || digits != std::to_string(number) || number < 0 || number >= most_blocks)
    return std::nullopt;
  return number;
}

std::string their_name(const Family& family, const NameRule& rule, std::int64_t block) {
  return (rule.theirs == head_name ? "" : std::string(family.prefix)) + with_number(rule.theirs, block);
}

std::string our_name(const NameRule& rule, std::int64_t block) {
  return (rule.ours == head_name ? "" : "transformer.") + with_number(rule.ours, block);
}

std::string names_of_families() {
  std::vector<std::string> names;
  for (const Family& family : all_families)
    names.push_back(fmt::format("a {} ({}{} {})", family.name, family.prefix, family.key,
                                family.is_llama    ? "[width, width]"
                                : family.is_conv1d ? "[width, 3 width]"
                                                   : "[3 width, width]"));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace distlab
