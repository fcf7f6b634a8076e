// Forks: whether this is still the process that something was made in.
#pragma once

#include <cstdint>

namespace dist {

namespace detail {
extern std::uint32_t forks_before;  // written before a forked child goes on
}

// How many forks there were between the process that loaded the library and this one. Costs one load.
inline std::uint32_t forks_before() { return detail::forks_before; }

}  // namespace dist
