// How far the simulations of this process are.
#pragma once

#include <cstdint>

namespace dist::sim {

// Returns how many messages were sent so far, in all simulations of this process. Any thread may ask while
// another one simulates; if several do, some messages are not counted.
std::uint64_t messages_so_far();

}  // namespace dist::sim
