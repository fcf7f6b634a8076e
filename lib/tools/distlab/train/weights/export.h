// Writing a GPT's weights for other programs.
#pragma once

#include <filesystem>
#include <string>

#include "dist/nn/gpt.h"

namespace distlab {

// Throws Error{invalid_argument}, in one line, for options that neither nanoGPT nor a Llama has: then there
// are no names for the parameters.
void check_export(const dist::nn::GptOptions& gpt);

// Writes the parameters in f32, as torch.load_state_dict() takes them: with nanoGPT's names, or for a GPT
// with all options of a Llama with those of Hugging Face's. A tied head is there under both names, and LoRA
// is merged. Returns a line that says what was written, with the settings that the file does not have. Throws
// what check_export() and nn::save_safetensors() throw.
std::string export_weights(const std::filesystem::path& file, dist::nn::GPT& model);

}  // namespace distlab
