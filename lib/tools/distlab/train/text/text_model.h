// The GPT of a run: its sizes, from the options or from a checkpoint, and its vocabulary in the checkpoint.
#pragma once

#include <filesystem>
#include <memory>

#include "dist/data/text.h"
#include "dist/nn/gpt.h"

#include "distlab/train/checkpoint.h"
#include "distlab/train/options.h"

namespace distlab {

dist::nn::GptOptions gpt_options(const TextOptions& options, std::int64_t vocab_size);

dist::DType dtype_of(const TextOptions& options);

// With --from or --lora, a run adapts the model of a file: that of --from, or of its own checkpoint if it
// resumes. Returns the options with that model's sizes, dtype and kind of tokens; without, as they are.
// Throws Error{invalid_argument}, which names the option, where the file has something else, and without a
// file.
TrainOptions with_model_of_file(TrainOptions options);
// That file; empty: the run adapts none.
std::filesystem::path adapted_file(const TrainOptions& options);
// Gives the model LoRA of this rank, with alpha = 2 rank; nothing for 0.
void add_text_lora(dist::nn::GPT& model, std::int64_t rank);
// The rank of the LoRA in a checkpoint, or 0.
std::int64_t lora_of(const Checkpoint& checkpoint);

// What a checkpoint says about the model, and the reverse.
RunSettings settings_of(const dist::nn::GptOptions& options);
dist::nn::GptOptions gpt_options(const Checkpoint& checkpoint);

dist::nn::StateDict state_of(const dist::data::Vocabulary& vocabulary);
dist::data::Vocabulary vocabulary_of(const Checkpoint& checkpoint);

}  // namespace distlab
