// The text that a GPT learns, as tokens.
#pragma once

#include <cstdint>
#include <string>

#include "dist/data/text.h"

#include "distlab/train/options.h"

namespace distlab {

struct TextData {
  std::string name;   // for messages
  std::string about;  // one line about what the model should not learn, or nothing
  std::int64_t checksum = 0;
  dist::data::Vocabulary vocabulary;
  dist::data::TokenList tokens;

  // Both point to `tokens`. Throw Error{invalid_argument} when there is not one block.
  dist::data::TextDataset train(std::int64_t context) const;       // blocks at every place
  dist::data::TextDataset validation(std::int64_t context) const;  // each token is a target once
  // A validation on the last tenth of a large text would take longer than the steps before it.
  static constexpr std::size_t most_validated = std::size_t{1} << 20;
};

// Reads --data, or the handouts; a run that adapts a model has that one's vocabulary. A model of another
// program does not say what its tokens are, so --tokens does, and has to have as many. The text is never in
// memory as a whole; on a terminal, rank 0 says how much of it is read. Throws Error{resource}
// for a file that cannot be read and Error{invalid_argument} for one that is not UTF-8 (with --tokens chars)
// or too short.
TextData load_text(const TrainOptions& options);

}  // namespace distlab
