// State in files, in the format safetensors, which PyTorch users read and write too.
//
// A file has 8 bytes (little endian: the length of the header), the header (JSON, padded with spaces), and
// the elements of all tensors one after another, without gaps:
//   {"__metadata__": {"format": "distlab", "crc32": "0a1b2c3d"},
//    "fc.weight": {"dtype": "F32", "shape": [10, 1568], "data_offsets": [0, 62720]}, ...}
// The checksum is the CRC-32 of everything after the length, with zeros for its own eight digits.
#pragma once

#include <filesystem>

#include "dist/nn/state_dict.h"

namespace dist::nn {

// Saves whole or not at all, and to the disk: core/whole_file.h says what happens to an older file, a link, a
// pipe or a device of that name. Throws Error{invalid_argument} for an empty path, and for a tensor's name
// that occurs twice, is "__metadata__" or is not UTF-8, and for the state_dict() of a module that ranks have
// divided, which is this rank's part of it. Throws Error{resource} for what the system refuses; an older file
// is then still there. `format` is what the metadata say: transformers refuses a file that does not say "pt".
void save_safetensors(const std::filesystem::path& path, const StateDict& dict,
                      std::string_view format = "distlab");

// Loads to the CPU, in the order of the file. Throws Error{invalid_argument}, with one line, for a file that
// is cut off, was changed (its checksum differs), is something else, or contradicts itself: tensors that
// overlap, leave gaps or do not have the size that their shape says. A file of another program, which has no
// checksum, is checked for everything else. Throws Error{resource} if it cannot be read.
StateDict load_safetensors(const std::filesystem::path& path);

}  // namespace dist::nn
