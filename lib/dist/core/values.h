// Whether floating point numbers have values on this thread. A simulation can do without
// (sim::RunOptions::values): then tensors of them have sizes alone, and nothing computes, copies or sends
// their elements. Integers always have values, since what a program does depends on them.
#pragma once

#include <utility>

#include "dist/core/types.h"

namespace dist {

inline constinit thread_local bool floats_have_values = true;

inline bool has_values(DType dtype) { return floats_have_values || !is_floating_point(dtype); }

// While it lives, this thread's floating point numbers have values, or have none.
class ValuesScope {
 public:
  explicit ValuesScope(bool floats) : before_(std::exchange(floats_have_values, floats)) {}
  ~ValuesScope() { floats_have_values = before_; }
  ValuesScope(const ValuesScope&) = delete;
  ValuesScope& operator=(const ValuesScope&) = delete;

 private:
  const bool before_;
};

}  // namespace dist
