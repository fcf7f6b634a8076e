// Checkpoints: a run between two epochs, in one safetensors file. Training continues from it as if it had
// never stopped, bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

namespace distlab {

// "epochs_done", and the settings that must be equal in the resumed run: "ranks", "batch_size", ...
using RunSettings = std::map<std::string, std::int64_t>;

// Writes the model as "model.NAME", the optimizer as "optimizer.NAME", the settings as "run.NAME". The file
// is either complete or unchanged. Throws Error{resource} when it cannot be written.
void save_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                     const dist::nn::Optimizer& optimizer, const RunSettings& settings);

// Returns how many epochs are done. Throws Error{invalid_argument} for a damaged file, for another model, and
// for a run with other settings, of which it names the first.
int load_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                    dist::nn::Optimizer& optimizer, const RunSettings& settings);

}  // namespace distlab
