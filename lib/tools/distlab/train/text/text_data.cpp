#include "distlab/train/text/text_data.h"

#include <span>
#include <string_view>
#include <utility>

#include "dist/core/crc32.h"
#include "dist/core/fail.h"

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

namespace {

// That of the adapted model, if it has one; otherwise what --tokens says, which must have as many tokens.
data::Vocabulary vocabulary_for(const TrainOptions& options, const std::string& text,
                                const std::string& name) {
  if (const auto adapted = adapted_file(options); !adapted.empty())
    if (const auto checkpoint = checkpoint_of(adapted, options); has_vocabulary(checkpoint))
      return vocabulary_of(checkpoint);
  auto vocabulary =
      options.text.tokens == "bytes" ? data::Vocabulary::of_bytes() : data::Vocabulary::of_chars(text, name);
  const std::int64_t wanted = options.text.vocab_size;
  if (wanted != 0 && wanted != vocabulary.size())
    dist::fail(dist::Errc::invalid_argument,
               "{} has {} tokens, but --tokens {} makes {} of {}, and distlab has no other tokens: name the "
               "text that "
               "it was trained on with --data, or only convert it with --steps 0 --export FILE",
               options.text.from.string(), wanted, options.text.tokens, vocabulary.size(), name);
  return vocabulary;
}

}  // namespace

TextData load_text(const TrainOptions& options) {
  const bool is_built_in = options.data.empty();
  const std::string text = is_built_in ? std::string(corpus()) : data::read_text(options.data),
                    name = is_built_in ? "the handouts" : options.data;
  auto vocabulary = vocabulary_for(options, text, name);
  auto tokens = vocabulary.encode(text, name);
  TextData loaded{name, dist::crc32(std::as_bytes(std::span(text))), std::move(vocabulary),
                  std::move(tokens)};
  loaded.train(options.text.context);
  loaded.validation(options.text.context);
  return loaded;
}

}  // namespace distlab
