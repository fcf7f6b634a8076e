// A collective that was submitted and runs on the group's progress thread.
#pragma once

#include <exception>
#include <memory>
#include <mutex>

#include "dist/backend/operation.h"
#include "dist/backend/work.h"
#include "dist/core/tasking.h"

namespace dist {

class CollectiveWork final : public WorkState {
 public:
  explicit CollectiveWork(Operation op) : operation(std::move(op)) {}

  void wait(Timeout timeout) override;
  bool is_completed() override;
  void finish(std::exception_ptr error);  // nullptr: well

  const Operation operation;

 private:
  std::mutex mutex_;
  Condition done_changed_;
  bool done_ = false;
  std::exception_ptr error_;
};

// What wait(timeout) throws when it has waited in vain, for every kind of operation.
[[noreturn]] void fail_wait(const Operation& operation, Timeout waited);

// "all_reduce #7 (4 f32) at train.cpp:41"
std::string describe(const Operation& operation);

}  // namespace dist
