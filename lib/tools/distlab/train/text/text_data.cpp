#include "distlab/train/text/text_data.h"

#include <span>
#include <string_view>
#include <utility>

#include "dist/core/crc32.h"

#include "distlab/train/text/corpus.h"
#include "distlab/train/text/text_model.h"

namespace distlab {

namespace data = dist::data;

data::TextDataset TextData::train(std::int64_t context) const {
  return {data::split_text(tokens).train, {.context = context}, "the training part of " + name};
}

data::TextDataset TextData::validation(std::int64_t context) const {
  return {data::split_text(tokens).validation,
          {.context = context, .stride = context},
          "the validation part (the last tenth) of " + name};
}

TextData load_text(const TrainOptions& options) {
  const bool is_built_in = options.data.empty();
  const std::string text = is_built_in ? std::string(corpus()) : data::read_text(options.data),
                    name = is_built_in ? "the handouts" : options.data;
  const auto adapted = adapted_file(options);
  auto vocabulary = !adapted.empty()                 ? vocabulary_of(Checkpoint(adapted))
                    : options.text.tokens == "bytes" ? data::Vocabulary::of_bytes()
                                                     : data::Vocabulary::of_chars(text, name);
  auto tokens = vocabulary.encode(text, name);
  TextData loaded{name, dist::crc32(std::as_bytes(std::span(text))), std::move(vocabulary),
                  std::move(tokens)};
  loaded.train(options.text.context);
  loaded.validation(options.text.context);
  return loaded;
}

}  // namespace distlab
