// Sizes as people write them.
#pragma once

#include <cstdint>
#include <string_view>

namespace distlab {

// Bytes of "64", "64KiB", "1gb": k, kb and KiB are all 1024. Error{invalid_argument}: why it is no size, in a
// few words.
std::uint64_t bytes_of(std::string_view text);

}  // namespace distlab
