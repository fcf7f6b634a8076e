// How long an operation of a store that is running may take.
#pragma once

#include <chrono>

#include "dist/core/deadline.h"

namespace dist::test {

inline Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

}  // namespace dist::test
