// gzip, by zlib: gunzip.cpp if it was found, no_zlib.cpp if it was not (DIST_ZLIB).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dist::data {

// Whether the bytes begin like a gzip file.
bool is_gzip(std::span<const std::byte> bytes);

// The uncompressed data. `what` names it in errors. Throws Error{invalid_argument} if the data is damaged or
// incomplete, or has more than `limit` bytes when uncompressed. Without zlib it throws Error{unsupported},
// which says how to get zlib.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& what, std::size_t limit);

}  // namespace dist::data
