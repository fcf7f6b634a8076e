// State in files, in the format safetensors, which PyTorch's users read and write too.
//
// A file is 8 bytes (little endian: the length of the header), the header (JSON, padded with spaces), and the
// elements of all tensors one after the other, without gaps:
//   {"__metadata__": {"format": "distlab", "crc32": "0a1b2c3d"},
//    "fc.weight": {"dtype": "F32", "shape": [10, 1568], "data_offsets": [0, 62720]}, ...}
// The checksum is the CRC-32 of all that follows the length, with zeros for its eight digits.
#pragma once

#include <filesystem>

#include "dist/nn/state_dict.h"

namespace dist::nn {

// Whole or not at all, and on the disk: core/whole_file.h says what happens to an older file, a link, a pipe
// or a device of that name. Error{invalid_argument} for an empty path, and for a tensor's name that occurs
// twice, is
// "__metadata__" or is not UTF-8; Error{resource} for what the system refuses: an older file is still there
// then.
void save_safetensors(const std::filesystem::path& path, const StateDict& dict);

// On the CPU, in the order of the file. Error{invalid_argument} in one line for a file that is cut off, has
// been changed (the checksum is another), is something else, or contradicts itself: tensors that overlap,
// leave gaps or do not have the size that their shape says. A file of others, which has no checksum, is
// checked for all else. Error{resource} when it cannot be read.
StateDict load_safetensors(const std::filesystem::path& path);

}  // namespace dist::nn
