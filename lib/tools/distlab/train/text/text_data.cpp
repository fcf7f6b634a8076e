#include "distlab/train/text/text_data.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/crc32.h"
#include "dist/core/fail.h"
#include "dist/data/text_reader.h"
#include "dist/group/process_group.h"

#include "distlab/train/text/corpus.h"
#include "distlab/train/text/text_model.h"
#include "distlab/waiting.h"

namespace distlab {

namespace data = dist::data;

data::TextDataset TextData::train(std::int64_t context) const {
  return {data::split_text(tokens).train, {.context = context}, "the training part of " + name};
}

data::TextDataset TextData::validation(std::int64_t context) const {
  const data::TokenSpan last = data::split_text(tokens).validation;
  return {last.first(std::min(last.size(), most_validated)),
          {.context = context, .stride = context},
          "the validation part (the last tenth) of " + name};
}

namespace {

bool has_numbers(const TrainOptions& options) { return options.text.tokens == "u16"; }

// The text of --data, or the handouts, which is read several times. Says how far it is, on rank 0.
class Source {
 public:
  explicit Source(const TrainOptions& options)
      : is_built_in_(options.data.empty()),
        path_(options.data),
        name_(is_built_in_ ? "the handouts" : options.data) {
    std::error_code unknown;
    if (const auto bytes = std::filesystem::file_size(path_, unknown); !is_built_in_ && !unknown)
      bytes_ = bytes;
  }
  const std::string& name() const { return name_; }
  std::uint64_t bytes() const { return is_built_in_ ? corpus().size() : bytes_; }
  bool is_built_in() const { return is_built_in_; }

  void read(const std::string& purpose, const std::function<void(std::string_view part)>& take) const {
    if (is_built_in_) return take(corpus());
    std::atomic<std::uint64_t> read = 0;
    std::optional<Waiting> waiting;
    if (!dist::is_initialized() || dist::get_rank() == 0)
      waiting.emplace(fmt::format("reading {} {}", name_, purpose), [&read, this] {
        return static_cast<double>(read) / static_cast<double>(std::max<std::uint64_t>(bytes_, 1));
      });
    data::read_text(path_, [&](std::string_view part) {
      take(part);
      read += part.size();
    });
  }

 private:
  const bool is_built_in_;
  const std::filesystem::path path_;
  const std::string name_;
  std::uint64_t bytes_ = 0;
};

// That of the adapted model, if it has one; otherwise what --tokens says, which must have as many tokens.
data::Vocabulary vocabulary_for(const TrainOptions& options, const Source& source) {
  if (const auto adapted = adapted_file(options); !adapted.empty())
    if (const auto checkpoint = checkpoint_of(adapted, options); has_vocabulary(checkpoint))
      return vocabulary_of(checkpoint);
  const std::int64_t wanted = options.text.vocab_size;
  if (has_numbers(options)) {
    if (wanted > 0) return data::Vocabulary::of_numbers(wanted);
    const auto any = data::Vocabulary::of_numbers(1 << 16);
    data::Encoder all(any, source.name(), source.bytes() / 2);
    source.read("for its largest number", [&](std::string_view part) { all.add(part); });
    const data::TokenList numbers = all.finish();
    const data::TokenSpan span = numbers;
    data::Token largest = 0;
    for (std::size_t i = 0; i < span.size(); ++i) largest = std::max(largest, span[i]);
    return data::Vocabulary::of_numbers(largest + 1);
  }
  data::CharacterSet characters(source.name());
  if (options.text.tokens == "chars")
    source.read("for its characters", [&](std::string_view part) { characters.add(part); });
  auto vocabulary = options.text.tokens == "bytes" ? data::Vocabulary::of_bytes() : characters.finish();
  if (wanted != 0 && wanted != vocabulary.size())
    dist::fail(dist::Errc::invalid_argument,
               "{} has {} tokens, but --tokens {} makes {} of {}: name the text that it was trained on with "
               "--data, or a file of its tokens with --tokens u16 --data train.bin",
               (options.text.from.empty() ? options.checkpoint : options.text.from).string(), wanted,
               options.text.tokens, vocabulary.size(), source.name());
  return vocabulary;
}

// What editors of other systems leave in a text, where it cannot be seen. The model learns to write it.
class Leftovers {
 public:
  void add(std::string_view part) {
    if (start_.size() < mark.size()) start_ += part.substr(0, mark.size() - start_.size());
    returns_ += static_cast<std::uint64_t>(std::ranges::count(part, '\r'));
  }
  std::string said(const std::string& name) const {
    std::string what = start_ == mark ? "begins with a byte order mark" : "";
    if (returns_ > 0)
      what += fmt::format("{}has {} at the ends of lines", what.empty() ? "" : " and ",
                          dist::counted(static_cast<std::int64_t>(returns_), "carriage return"));
    if (what.empty()) return "";
    return fmt::format(
        "{} {}, and the model learns to write that too; to remove it: sed -i "
        "'1s/^\\xEF\\xBB\\xBF//; s/\\r$//' {}",
        name, what, name);
  }

 private:
  static constexpr std::string_view mark = "\xEF\xBB\xBF";
  std::string start_;
  std::uint64_t returns_ = 0;
};

}  // namespace

TextData load_text(const TrainOptions& options) {
  const Source source(options);
  if (source.is_built_in() && has_numbers(options))
    dist::fail(dist::Errc::invalid_argument,
               "--tokens u16 needs a file of numbers, such as nanoGPT's train.bin; add --data FILE");
  auto vocabulary = vocabulary_for(options, source);
  data::Encoder encoder(vocabulary, source.name(), source.bytes() / (vocabulary.is_numbers() ? 2 : 1));
  Leftovers leftovers;
  std::uint32_t checksum = 0;
  source.read("as tokens", [&](std::string_view part) {
    checksum = dist::crc32(std::as_bytes(std::span(part)), checksum);
    if (!vocabulary.is_numbers()) leftovers.add(part);
    encoder.add(part);
  });
  auto tokens = encoder.finish();
  TextData loaded{source.name(), leftovers.said(source.name()), checksum, std::move(vocabulary),
                  std::move(tokens)};
  loaded.train(options.text.context);
  loaded.validation(options.text.context);
  return loaded;
}

}  // namespace distlab
