// A GPT writes: one token after another, each drawn from the probabilities that the model gives after those
// before it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dist/data/text.h"
#include "dist/nn/gpt.h"

#include "distlab/train/options.h"

namespace distlab {

struct Sampling {
  std::int64_t length = 0;  // tokens to add
  double temperature = 1;   // logits are divided by it; 0: always the most probable token
  std::int64_t top_k = 0;   // the number of most probable tokens to draw among; 0: all
  std::uint64_t seed = 0;
};

// Draws a token from logits, with a random number from [0, 1). Among equal logits the first one counts as
// more probable.
dist::data::Token draw_token(std::span<const float> logits, const Sampling& sampling, double random);

// Returns the prompt (at least one token) and what follows. The model sees the last `context` tokens at a
// time. It is in evaluation mode afterwards.
std::vector<dist::data::Token> generate(dist::nn::GPT& model, std::vector<dist::data::Token> prompt,
                                        const Sampling& sampling, dist::Device device);

// The text of --sample, continued.
std::string sample_text(dist::nn::GPT& model, const dist::data::Vocabulary& vocabulary,
                        const TrainOptions& options, dist::Device device);
// --steps 0: the same by the model of --from or of the checkpoint, without training, and --export. Returns
// what there is to say. Throws what checkpoint_of() and check_export() throw, and Error{invalid_argument} for
// a prompt with characters that the model does not know.
std::string use_without_training(const TrainOptions& options);

}  // namespace distlab
