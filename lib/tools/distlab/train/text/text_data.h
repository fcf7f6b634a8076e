// The text that a GPT learns, as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/data/text.h"

#include "distlab/train/options.h"

namespace distlab {

struct TextData {
  std::string name;  // for messages
  std::int64_t checksum = 0;
  dist::data::Vocabulary vocabulary;
  std::vector<dist::data::Token> tokens;

  // Both point to `tokens`. Throw Error{invalid_argument} when there is not one block.
  dist::data::TextDataset train(std::int64_t context) const;       // blocks at every place
  dist::data::TextDataset validation(std::int64_t context) const;  // each token is a target once
};

// Reads --data, or the handouts; a run that adapts a model has that one's vocabulary. A model of another
// program does not say what its tokens are, so --tokens does, and has to have as many. Throws Error{resource}
// for a file that cannot be read and Error{invalid_argument} for one that is not UTF-8 (with --tokens chars)
// or too short.
TextData load_text(const TrainOptions& options);

}  // namespace distlab
