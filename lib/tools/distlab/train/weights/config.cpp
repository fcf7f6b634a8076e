#include "distlab/train/weights/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "dist/core/fail.h"
#include "dist/core/json.h"

#include "distlab/file_text.h"

namespace distlab {
namespace {

using dist::Json;

// The values that an entry may have, in JSON; one that is missing is right, too.
struct Allowed {
  std::string_view entry;
  std::array<std::string_view, 3> values;
};
constexpr std::array all_allowed{
    Allowed{"model_type", {R"("gpt2")", R"("llama")", R"("mistral")"}},
    Allowed{"activation_function", {R"("gelu_new")", R"("gelu_pytorch_tanh")", R"("gelu")"}},
    Allowed{"hidden_act", {R"("silu")"}},
    Allowed{"rope_type", {R"("default")"}},
    Allowed{"rope_scaling", {"null"}},
    Allowed{"sliding_window", {"null"}},
    Allowed{"quantization_config", {"null"}},
    Allowed{"scale_attn_weights", {"true"}},
    Allowed{"scale_attn_by_inverse_layer_idx", {"false"}},
};

// The first of these entries that is a number, or 0.
double number_of(const Json& config, std::initializer_list<const char*> entries) {
  for (const char* const entry : entries)
    if (const auto found = config.find(entry); found != config.end() && found->is_number())
      return found->get<double>();
  return 0;
}

void check(const std::filesystem::path& file, const Json& config) {
  for (const auto& [entry, values] : all_allowed) {
    const auto found = config.find(entry);
    if (found == config.end() || std::ranges::find(values, dist::json_text(*found)) != values.end()) continue;
    std::vector<std::string_view> named(values.begin(), std::ranges::find(values, std::string_view()));
    dist::fail(dist::Errc::invalid_argument, "{} says {} = {}, which distlab does not compute; it knows {}",
               file.string(), entry, dist::json_text(*found), fmt::join(named, ", "));
  }
}

}  // namespace

std::optional<ForeignConfig> config_beside(const std::filesystem::path& weights) {
  const auto file = std::filesystem::path(weights).replace_filename("config.json");
  const Json json = dist::try_parse_json(text_of_file(file));
  if (!json.is_object() || !json.contains("model_type")) return std::nullopt;
  check(file, json);
  const Json rope = json.value("rope_parameters", Json::object());  // since transformers 5
  if (rope.is_object()) check(file, rope);
  const double heads = number_of(json, {"num_attention_heads", "n_head"});
  if (!(heads >= 0 && heads <= 4096 && heads == std::floor(heads)))
    dist::fail(dist::Errc::invalid_argument, "{} says {} heads; it must be a whole number up to 4096",
               file.string(), heads);
  ForeignConfig config{.is_llama = json["model_type"] != "gpt2",
                       .heads = static_cast<std::int64_t>(heads),
                       .norm_eps = number_of(json, {"rms_norm_eps", "layer_norm_epsilon"}),
                       .rotary_base = number_of(json, {"rope_theta"}),
                       .gelu_tanh = {}};
  if (config.rotary_base == 0 && rope.is_object()) config.rotary_base = number_of(rope, {"rope_theta"});
  if (json.contains("activation_function")) config.gelu_tanh = json["activation_function"] != "gelu";
  return config;
}

}  // namespace distlab
