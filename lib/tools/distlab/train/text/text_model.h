// The GPT of a run: its sizes, from the options or from a checkpoint, and its vocabulary in the checkpoint.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "dist/data/text.h"
#include "dist/nn/gpt.h"

#include "distlab/train/checkpoint.h"
#include "distlab/train/options.h"

namespace distlab {

dist::nn::GptOptions gpt_options(const TextOptions& options, std::int64_t vocab_size);

dist::DType dtype_of(const TextOptions& options);

// With --from or --lora, a run adapts the model of a file: that of --from, or of its own checkpoint if it
// resumes (on a mesh still that of --from). Returns the options with that model's sizes, dtype and kind of
// tokens; without, as they are. Throws Error{invalid_argument}, which names the option, where the file has
// something else, and without a file.
TrainOptions with_model_of_file(TrainOptions options);
// That file; empty: the run adapts none.
std::filesystem::path adapted_file(const TrainOptions& options);
// The model of a file as a checkpoint: one of distlab, or weights of another program (weights/foreign.h),
// which have no vocabulary and are in f32; `about` then gets a line that says how they were read. Throws what
// Checkpoint() and read_foreign() throw.
Checkpoint checkpoint_of(const std::filesystem::path& file, const TrainOptions& options,
                         std::string* about = nullptr);
// Gives a GPT of that file's sizes the values of --from, in their dtype; returns that line, or nothing.
std::string begin_with_file(dist::nn::GPT& model, const TrainOptions& options);
bool has_vocabulary(const Checkpoint& checkpoint);
// Gives the model LoRA of this rank, with alpha = 2 rank; nothing for 0.
void add_text_lora(dist::nn::GPT& model, std::int64_t rank);
// The rank of the LoRA in a checkpoint, or 0.
std::int64_t lora_of(const Checkpoint& checkpoint);

// What a checkpoint says about the model, and the reverse.
RunSettings settings_of(const dist::nn::GptOptions& options);
dist::nn::GptOptions gpt_options(const Checkpoint& checkpoint);
// settings_of() has kv_heads, hidden, ... only where they are not usual: throws Error{invalid_argument} that
// names the first in which `file` differs. `saved` returns what it has, or the second argument.
void expect_variant(const std::filesystem::path& file, const dist::nn::GptOptions& gpt,
                    const std::function<std::int64_t(const std::string&, std::int64_t)>& saved);

// The value of --tokens.
std::string tokens_name(const dist::data::Vocabulary& vocabulary);
// A setting of checkpoints whose tokens are numbers.
constexpr const char* numbers_setting = "numbers";
dist::nn::StateDict state_of(const dist::data::Vocabulary& vocabulary);
dist::data::Vocabulary vocabulary_of(const Checkpoint& checkpoint);

}  // namespace distlab
