// How long a store may take that is there.
#pragma once

#include <chrono>

#include "dist/core/deadline.h"

namespace dist::test {

inline Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

}  // namespace dist::test
