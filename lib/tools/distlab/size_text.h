// Reads sizes such as "64KiB".
#pragma once

#include <cstdint>
#include <string_view>

namespace distlab {

// Returns the bytes of "64", "64KiB", "1gb": k, kb and KiB are all 1024. Throws Error{invalid_argument} with
// a short reason: "it is too large".
std::uint64_t bytes_of(std::string_view text);

}  // namespace distlab
