// The GPT of a run: its sizes, from the options or from a checkpoint, and its vocabulary in the checkpoint.
#pragma once

#include <memory>

#include "dist/data/text.h"
#include "dist/nn/gpt.h"

#include "distlab/train/checkpoint.h"
#include "distlab/train/options.h"

namespace distlab {

dist::nn::GptOptions gpt_options(const TextOptions& options, std::int64_t vocab_size);

dist::DType dtype_of(const TextOptions& options);

// What a checkpoint says about the model, and the reverse.
RunSettings settings_of(const dist::nn::GptOptions& options);
dist::nn::GptOptions gpt_options(const Checkpoint& checkpoint);

dist::nn::StateDict state_of(const dist::data::Vocabulary& vocabulary);
dist::data::Vocabulary vocabulary_of(const Checkpoint& checkpoint);

}  // namespace distlab
