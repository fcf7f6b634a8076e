// IDX, the file format of MNIST: two zero bytes, the element type (8: u8), the number of axes, their sizes as
// 32-bit big-endian numbers, then the elements.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dist/core/tensor.h"

namespace dist::data {

// The bytes of a file; of a .gz file (told by what it holds, not by its name) those that were compressed.
// Error{resource} when it cannot be read; gunzip()'s.
std::vector<std::byte> read_maybe_gzip(const std::filesystem::path& file);

// A u8 tensor with `axes` axes. `what` names it in errors: Error{invalid_argument} for another format,
// element type or number of axes, for sizes that do not fit the number of bytes.
Tensor parse_idx(std::span<const std::byte> bytes, int axes, const std::string& what);

}  // namespace dist::data
