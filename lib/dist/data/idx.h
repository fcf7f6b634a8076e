// IDX, the file format of MNIST, has two zero bytes, the element type (8: u8), the number of axes, their
// sizes as 32-bit big-endian numbers, then the elements.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dist/core/tensor.h"

namespace dist::data {

// The bytes of a file; for a compressed file (recognised by its contents, not by its name) the uncompressed
// bytes. Throws Error{resource} if it cannot be read, and what gunzip() throws.
std::vector<std::byte> read_maybe_gzip(const std::filesystem::path& file);

// A u8 tensor with `axes` axes. `what` names it in errors. Throws Error{invalid_argument} for another format,
// element type or number of axes, and for sizes that do not fit the number of bytes.
Tensor parse_idx(std::span<const std::byte> bytes, int axes, const std::string& what);

}  // namespace dist::data
