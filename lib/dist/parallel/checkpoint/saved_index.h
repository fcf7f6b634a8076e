// What a folder of sharded checkpoints says about its saves, read and checked: a damaged file is one line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/tensor.h"

namespace dist {

// FOLDER/checkpoint.json is the file that says which save is in force.
inline constexpr const char* in_force_file = "checkpoint.json";

// The number of a save from the name of its folder, "save-000002"; nothing for any other name.
std::optional<std::int64_t> save_number(std::string_view name);

// The name of the save in force. Throws Error{invalid_argument} if there is none, or checkpoint.json is
// damaged.
std::string save_in_force(const std::filesystem::path& folder);

struct SavedPiece {
  std::string file, key;  // the tensor `key` of that file of the save
  Shape offset, shape;
};
struct SavedTensor {
  std::string dtype;
  Shape shape;
  std::vector<SavedPiece> pieces;  // each is inside the tensor
};
using SavedTensors = std::map<std::string, SavedTensor, std::less<>>;

// What index.json of the save says. Throws Error{invalid_argument} if it cannot be read or is damaged.
SavedTensors read_index(const std::filesystem::path& save);

// "runs/x", "runs/x/" and "./runs/x" are one folder: the same path for all of them.
std::filesystem::path one_spelling(const std::filesystem::path& folder);

}  // namespace dist
