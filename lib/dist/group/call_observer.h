// CallObserver: told of every call of one rank and of what becomes of it. The simulator's checker and tracer
// listen here.
#pragma once

#include "dist/backend/operation.h"

namespace dist {

struct GroupState;

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Admitted, numbered, and about to be given to the backend. `async`: a Work will be waited for, and the
  // operation may get other tensors in place of the user's until it has ended.
  virtual void issued(const GroupState& group, Operation& operation, bool async) = 0;
  // Its buffers are the user's again: a synchronous call has returned, or the Work was waited for.
  virtual void ended(const Operation& operation) = 0;
  // The same, by an error.
  virtual void failed(const Operation& operation) = 0;
  // The last Work was given up without a wait.
  virtual void never_waited(const Operation& operation) = 0;
};

}  // namespace dist
