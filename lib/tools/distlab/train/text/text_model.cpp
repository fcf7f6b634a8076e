#include "distlab/train/text/text_model.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "dist/core/fail.h"
#include "dist/nn/lora.h"

namespace distlab {

namespace data = dist::data;
namespace nn = dist::nn;

nn::GptOptions gpt_options(const TextOptions& options, std::int64_t vocab_size) {
  return {.vocab_size = vocab_size,
          .context = options.context,
          .layers = options.layers,
          .heads = options.heads,
          .width = options.width,
          .dropout = options.dropout,
          .tied = options.tied};
}

dist::DType dtype_of(const TextOptions& options) {
  return options.dtype == "bf16" ? dist::DType::bf16 : dist::DType::f32;
}

std::filesystem::path adapted_file(const TrainOptions& options) {
  if (options.text.from.empty() && options.text.lora == 0) return {};
  return options.resume && std::filesystem::exists(options.checkpoint) ? options.checkpoint
                                                                       : options.text.from;
}

TrainOptions with_model_of_file(TrainOptions options) {
  TextOptions& text = options.text;
  const auto file = adapted_file(options);
  if (file.empty()) {
    if (text.lora > 0)
      dist::fail(dist::Errc::invalid_argument,
                 "--lora adapts a model that is trained already; add --from FILE");
    return options;
  }
  const Checkpoint checkpoint(file);
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
  take("--dtype", text.dtype, std::string(dist::name(checkpoint.dtype())));
  take("--tokens", text.tokens, std::string(vocabulary_of(checkpoint).is_bytes() ? "bytes" : "chars"));
  return options;
}

void add_text_lora(nn::GPT& model, std::int64_t rank) {
  if (rank > 0) nn::add_lora(model, {.rank = rank, .alpha = 2 * static_cast<double>(rank)});
}

std::int64_t lora_of(const Checkpoint& checkpoint) { return checkpoint.setting_or("lora", 0); }

RunSettings settings_of(const nn::GptOptions& options) {
  return {{"vocab_size", options.vocab_size}, {"context", options.context}, {"layers", options.layers},
          {"heads", options.heads},           {"width", options.width},     {"tied", options.tied}};
}

nn::GptOptions gpt_options(const Checkpoint& checkpoint) {
  return {.vocab_size = checkpoint.setting("vocab_size"),
          .context = checkpoint.setting("context"),
          .layers = checkpoint.setting("layers"),
          .heads = checkpoint.setting("heads"),
          .width = checkpoint.setting("width"),
          .tied = checkpoint.setting("tied") != 0};
}

// The code points of characters; nothing for bytes.
nn::StateDict state_of(const data::Vocabulary& vocabulary) {
  const std::vector<std::int64_t> characters(vocabulary.characters().begin(), vocabulary.characters().end());
  return {{"vocabulary", dist::tensor(std::span(characters), dist::cpu)}};
}

data::Vocabulary vocabulary_of(const Checkpoint& checkpoint) {
  const auto characters = checkpoint.extra("vocabulary").to_vector<std::int64_t>();
  return data::Vocabulary({characters.begin(), characters.end()});
}

}  // namespace distlab
