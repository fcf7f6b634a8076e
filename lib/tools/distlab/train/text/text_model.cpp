#include "distlab/train/text/text_model.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/nn/lora.h"
#include "dist/nn/safetensors.h"

#include "distlab/train/weights/foreign.h"
#include "distlab/train/weights/pickle.h"

namespace distlab {

namespace data = dist::data;
namespace nn = dist::nn;

namespace {

// The options that checkpoints only have where they are not usual: f(name, value, usual value).
template <class Options, class F>
void for_each_variant(Options& gpt, const F& f) {
  const nn::GptOptions usual;
  f("kv_heads", gpt.kv_heads, usual.kv_heads);
  f("hidden", gpt.hidden, usual.hidden);
  f("bias", gpt.bias, usual.bias);
  f("rms_norm", gpt.rms_norm, usual.rms_norm);
  f("gated", gpt.gated, usual.gated);
  f("rotary", gpt.rotary, usual.rotary);
  f("gelu_tanh", gpt.gelu_tanh, usual.gelu_tanh);
  // A checkpoint's settings are whole numbers.
  auto base = std::llround(gpt.rotary_base), inverse = std::llround(1 / gpt.norm_eps);
  f("rotary_base", base, std::llround(usual.rotary_base));
  f("inverse_norm_eps", inverse, std::llround(1 / usual.norm_eps));
  if constexpr (!std::is_const_v<Options>) {
    gpt.rotary_base = static_cast<double>(base);
    gpt.norm_eps = 1 / static_cast<double>(inverse);
  }
}

}  // namespace

nn::GptOptions gpt_options(const TextOptions& options, std::int64_t vocab_size) {
  nn::GptOptions gpt{.vocab_size = vocab_size,
                     .context = options.context,
                     .layers = options.layers,
                     .heads = options.heads,
                     .width = options.width,
                     .dropout = options.dropout,
                     .bias = options.bias,
                     .tied = options.tied};
  gpt.kv_heads = options.kv_heads == options.heads ? 0 : options.kv_heads;
  gpt.hidden = !options.gated && options.hidden == 4 * options.width ? 0 : options.hidden;
  gpt.rms_norm = options.rms_norm, gpt.gated = options.gated, gpt.rotary = options.rotary;
  gpt.gelu_tanh = options.gelu_tanh, gpt.norm_eps = options.norm_eps, gpt.rotary_base = options.rotary_base;
  return gpt;
}

dist::DType dtype_of(const TextOptions& options) {
  return options.dtype == "bf16" ? dist::DType::bf16 : dist::DType::f32;
}

std::filesystem::path adapted_file(const TrainOptions& options) {
  if (options.text.from.empty() && options.text.lora == 0) return {};
  const bool is_resumed = options.resume && std::filesystem::exists(options.checkpoint);
  return is_resumed && options.text.mesh.empty() ? options.checkpoint : options.text.from;
}

namespace {

std::string about_foreign(const std::filesystem::path& file, const ForeignModel& model) {
  const nn::GptOptions& gpt = model.gpt;
  return fmt::format("{} is a {}: {}, width {}, context {}, {} tokens{}{}{}; {}", file.string(), model.family,
                     dist::counted(gpt.layers, "layer"), gpt.width, gpt.context, gpt.vocab_size,
                     gpt.tied ? ", a tied head" : "", gpt.bias ? "" : ", no biases",
                     gpt.gelu_tanh ? ", GELU by tanh" : "", model.about);
}

}  // namespace

Checkpoint checkpoint_of(const std::filesystem::path& file, const TrainOptions& options, std::string* about) {
  if (std::filesystem::is_directory(file)) return Checkpoint(file);
  expect_no_pickle(file);
  const nn::StateDict dict = nn::load_safetensors(file);
  const auto is_ours = [](const nn::NamedTensor& named) { return named.name.starts_with("run."); };
  if (std::ranges::any_of(dict, is_ours)) return {file, dict};
  const auto given = [&](const std::string& option, auto value) {
    const bool is_given =
        std::ranges::find(options.given, option, &OptionOfModel::option) != options.given.end();
    return is_given ? value : decltype(value){};
  };
  const TextOptions& text = options.text;
  const auto config = config_beside(file);
  if (text.gelu_tanh && config && !config->gelu_tanh.value_or(true))
    dist::fail(dist::Errc::invalid_argument,
               "--gelu-tanh, but the config.json beside {} says activation_function = \"gelu\"; leave it out",
               file.string());
  ForeignModel foreign = read_foreign(file, dict,
                                      {.heads = given("--heads", text.heads),
                                       .context = text.context,
                                       .norm_eps = given("--norm-eps", text.norm_eps),
                                       .rotary_base = given("--rotary-base", text.rotary_base),
                                       .config = config});
  if (!foreign.gpt.gated) foreign.gpt.gelu_tanh = foreign.gpt.gelu_tanh || text.gelu_tanh;
  nn::StateDict all = nn::with_prefix("model.", foreign.state);
  for (const auto& [name, value] : settings_of(foreign.gpt))
    all.push_back({"run." + name, dist::tensor<std::int64_t>({value})});
  if (about) *about = about_foreign(file, foreign);
  return {file, std::move(all)};
}

std::string begin_with_file(nn::GPT& model, const TrainOptions& options) {
  std::string about;
  const Checkpoint checkpoint = checkpoint_of(options.text.from, options, &about);
  model.to(checkpoint.dtype());
  checkpoint.restore(model);
  return about;
}

std::string tokens_name(const data::Vocabulary& vocabulary) {
  return vocabulary.is_bytes() ? "bytes" : vocabulary.is_numbers() ? "u16" : "chars";
}

bool has_vocabulary(const Checkpoint& checkpoint) { return checkpoint.has("vocabulary"); }

TrainOptions with_model_of_file(TrainOptions options) {
  TextOptions& text = options.text;
  const auto file = adapted_file(options);
  if (file.empty()) {
    if (text.lora > 0)
      dist::fail(dist::Errc::invalid_argument,
                 "--lora adapts a model that is trained already; add --from FILE");
    return options;
  }
  const Checkpoint checkpoint = checkpoint_of(file, options);
  if (file == text.from && lora_of(checkpoint) > 0)
    dist::fail(dist::Errc::invalid_argument,
               "{} is from a run with --lora; --from takes the checkpoint of a run without", file.string());
  const auto take = [&](const std::string& option, auto& value, const auto& of_file) {
    const auto is_it = [&](const OptionOfModel& given) { return given.option == option; };
    if (value != of_file && std::ranges::any_of(options.given, is_it))
      dist::fail(dist::Errc::invalid_argument, "{} is {}, but {} has a model of {}; leave the option out",
                 option, value, file.string(), of_file);
    value = of_file;
  };
  const nn::GptOptions gpt = gpt_options(checkpoint);
  take("--layers", text.layers, gpt.layers);
  take("--heads", text.heads, gpt.heads);
  take("--width", text.width, gpt.width);
  take("--context", text.context, gpt.context);
  take("--tied", text.tied, gpt.tied);
  // The usual numbers, in words of the file.
  if (text.kv_heads == gpt.heads) text.kv_heads = 0;
  if (!gpt.gated && text.hidden == 4 * gpt.width) text.hidden = 0;
  take("--kv-heads", text.kv_heads, gpt.kv_heads);
  take("--hidden", text.hidden, gpt.hidden);
  take("--bias", text.bias, gpt.bias);
  take("--rms-norm", text.rms_norm, gpt.rms_norm);
  take("--gated", text.gated, gpt.gated);
  take("--rotary", text.rotary, gpt.rotary);
  take("--gelu-tanh", text.gelu_tanh, gpt.gelu_tanh);
  take("--norm-eps", text.norm_eps, gpt.norm_eps);
  take("--rotary-base", text.rotary_base, gpt.rotary_base);
  text.vocab_size = gpt.vocab_size;
  if (!has_vocabulary(checkpoint)) return options;
  take("--dtype", text.dtype, std::string(dist::name(checkpoint.dtype())));
  take("--tokens", text.tokens, tokens_name(vocabulary_of(checkpoint)));
  return options;
}

void add_text_lora(nn::GPT& model, std::int64_t rank) {
  if (rank > 0) nn::add_lora(model, {.rank = rank, .alpha = 2 * static_cast<double>(rank)});
}

std::int64_t lora_of(const Checkpoint& checkpoint) { return checkpoint.setting_or("lora", 0); }

RunSettings settings_of(const nn::GptOptions& options) {
  RunSettings all{{"vocab_size", options.vocab_size}, {"context", options.context},
                  {"layers", options.layers},         {"heads", options.heads},
                  {"width", options.width},           {"tied", options.tied}};
  for_each_variant(options, [&](const char* name, std::int64_t value, std::int64_t usual) {
    if (value != usual) all.insert({name, value});
  });
  return all;
}

nn::GptOptions gpt_options(const Checkpoint& checkpoint) {
  nn::GptOptions gpt{.vocab_size = checkpoint.setting("vocab_size"),
                     .context = checkpoint.setting("context"),
                     .layers = checkpoint.setting("layers"),
                     .heads = checkpoint.setting("heads"),
                     .width = checkpoint.setting("width"),
                     .tied = checkpoint.setting("tied") != 0};
  for_each_variant(gpt, [&](const char* name, auto& value, std::int64_t usual) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(checkpoint.setting_or(name, usual));
  });
  return gpt;
}

void expect_variant(const std::filesystem::path& file, const nn::GptOptions& gpt,
                    const std::function<std::int64_t(const std::string&, std::int64_t)>& saved) {
  for_each_variant(gpt, [&](const char* name, std::int64_t value, std::int64_t usual) {
    expect_setting(file, name, saved(name, usual), value);
  });
}

// The code points of characters; nothing for bytes and numbers.
nn::StateDict state_of(const data::Vocabulary& vocabulary) {
  const std::vector<std::int64_t> characters(vocabulary.characters().begin(), vocabulary.characters().end());
  return {{"vocabulary", dist::tensor(std::span(characters), dist::cpu)}};
}

data::Vocabulary vocabulary_of(const Checkpoint& checkpoint) {
  const auto characters = checkpoint.extra("vocabulary").to_vector<std::int64_t>();
  if (checkpoint.setting_or(numbers_setting, 0) != 0)
    return data::Vocabulary::of_numbers(checkpoint.setting("vocab_size"));
  return data::Vocabulary({characters.begin(), characters.end()});
}

}  // namespace distlab
