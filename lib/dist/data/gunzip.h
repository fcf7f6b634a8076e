// gzip, by zlib: gunzip.cpp where it was found, no_zlib.cpp where it was not (DIST_ZLIB).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dist::data {

// Whether these are the beginnings of gzip's files.
bool is_gzip(std::span<const std::byte> bytes);

// What was compressed. `what` names it in errors: Error{invalid_argument} for damaged or cut data, or when it
// becomes larger than `limit` bytes; Error{unsupported} without zlib, saying how to get it.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& what, std::size_t limit);

}  // namespace dist::data
