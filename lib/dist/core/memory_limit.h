// How much memory this process may hope for.
#pragma once

#include <cstddef>

namespace dist {

// Bytes of RAM, or this container's limit (control groups 1 and 2) when that is less. Read once.
std::size_t physical_memory();

}  // namespace dist
