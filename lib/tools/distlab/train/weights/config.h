// config.json, which Hugging Face puts beside a model's weights: what their shapes do not say.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace distlab {

struct ForeignConfig {
  bool is_llama = false;
  std::int64_t heads = 0;
  double norm_eps = 0, rotary_base = 0;  // 0: not there
  std::optional<bool> gelu_tanh = {};
};

// Reads that of the folder of `weights`; nothing if there is none, or one without a model_type, which is
// another program's. Throws Error{invalid_argument}, which names the entry, for a model that computes
// something that distlab does not: another activation function, scaled rotary positions, a sliding window,
// ...
std::optional<ForeignConfig> config_beside(const std::filesystem::path& weights);

}  // namespace distlab
