// The models that `distlab train` can train.
#pragma once

#include <span>
#include <string_view>

#include "distlab/train/options.h"

namespace distlab {

struct ModelEntry {
  std::string_view name, help;
  // Checks, before the ranks start, what only this model has: options, files. Throws Error{invalid_argument}
  // that names the option or Error{resource} that names the file.
  void (*check)(const TrainOptions& options);
  void (*train)(const TrainOptions& options);  // the work of one rank of the default group
};

std::span<const ModelEntry> models();
// Throws Error{invalid_argument} when there is no such model.
const ModelEntry& model_named(std::string_view name);

}  // namespace distlab
