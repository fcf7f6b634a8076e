#include "distlab/train/text/text_data.h"

#include <algorithm>
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

bool has_numbers(const TrainOptions& options) { return options.text.tokens == "u16"; }

// That of the adapted model, if it has one; otherwise what --tokens says, which must have as many tokens.
data::Vocabulary vocabulary_for(const TrainOptions& options, const std::string& text,
                                const std::string& name) {
  if (const auto adapted = adapted_file(options); !adapted.empty())
    if (const auto checkpoint = checkpoint_of(adapted, options); has_vocabulary(checkpoint))
      return vocabulary_of(checkpoint);
  const std::int64_t wanted = options.text.vocab_size;
  if (has_numbers(options)) {
    const auto numbers = data::tokens_of_u16(text, name);
    const auto largest = numbers.empty() ? 0 : *std::ranges::max_element(numbers);
    return data::Vocabulary::of_numbers(wanted > 0 ? wanted : largest + 1);
  }
  auto vocabulary =
      options.text.tokens == "bytes" ? data::Vocabulary::of_bytes() : data::Vocabulary::of_chars(text, name);
  if (wanted != 0 && wanted != vocabulary.size())
    dist::fail(dist::Errc::invalid_argument,
               "{} has {} tokens, but --tokens {} makes {} of {}: name the text that it was trained on with "
               "--data, or a file of its tokens with --tokens u16 --data train.bin",
               (options.text.from.empty() ? options.checkpoint : options.text.from).string(), wanted,
               options.text.tokens, vocabulary.size(), name);
  return vocabulary;
}

std::vector<data::Token> tokens_for(const data::Vocabulary& vocabulary, const std::string& text,
                                    const std::string& name) {
  if (!vocabulary.is_numbers()) return vocabulary.encode(text, name);
  auto tokens = data::tokens_of_u16(text, name);
  const auto wrong = std::ranges::find_if(tokens, [&](auto token) { return token >= vocabulary.size(); });
  if (wrong != tokens.end())
    dist::fail(dist::Errc::invalid_argument,
               "{} has the number {} at {}, but the model has {} tokens; were they made for another model?",
               name, *wrong, wrong - tokens.begin(), vocabulary.size());
  return tokens;
}

}  // namespace

TextData load_text(const TrainOptions& options) {
  const bool is_built_in = options.data.empty();
  if (is_built_in && has_numbers(options))
    dist::fail(dist::Errc::invalid_argument,
               "--tokens u16 needs a file of numbers, such as nanoGPT's train.bin; add --data FILE");
  const std::string text = is_built_in ? std::string(corpus()) : data::read_text(options.data),
                    name = is_built_in ? "the handouts" : options.data;
  auto vocabulary = vocabulary_for(options, text, name);
  auto tokens = tokens_for(vocabulary, text, name);
  TextData loaded{name, dist::crc32(std::as_bytes(std::span(text))), std::move(vocabulary),
                  std::move(tokens)};
  loaded.train(options.text.context);
  loaded.validation(options.text.context);
  return loaded;
}

}  // namespace distlab
