// Checkpoints: a run between two epochs, in one safetensors file. From it training goes on as if it had never
// stopped, bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

namespace distlab {

// "epochs_done", and what a run must have in common with the one that goes on: "ranks", "batch_size", ...
using RunSettings = std::map<std::string, std::int64_t>;

// The model as "model.NAME", the optimizer as "optimizer.NAME", the settings as "run.NAME". The file is there
// whole or as it was before. Error{resource} when it cannot be written.
void save_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                     const dist::nn::Optimizer& optimizer, const RunSettings& settings);

// Returns how many epochs are done. Error{invalid_argument} for a file that is damaged, of another model, or
// of a run with other settings, naming the first.
int load_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                    dist::nn::Optimizer& optimizer, const RunSettings& settings);

}  // namespace distlab
