// ReductionWatch: told of the reductions that a thread makes on the CPU.
#pragma once

#include <chrono>

#include "dist/core/view.h"

namespace dist {

class ReductionWatch {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~ReductionWatch() = default;
  // reduce() (kernels.h) into `acc` began then and has just ended.
  virtual void reduced(const TensorView& acc, Clock::time_point begin) = 0;

  static ReductionWatch* current();                          // of this thread; null: nobody watches
  static ReductionWatch* exchange_current(ReductionWatch*);  // returns the one before
};

}  // namespace dist
