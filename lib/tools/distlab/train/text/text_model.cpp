#include "distlab/train/text/text_model.h"

#include <span>
#include <vector>

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
