// Bytes in a mebibyte.
#pragma once

#include <cstddef>

namespace dist::test {

inline constexpr std::size_t mib = std::size_t{1} << 20;

}  // namespace dist::test
