// CallObserver: told of every call of one rank and of what becomes of it. The simulator's checker and tracer
// listen here.
#pragma once

#include "dist/backend/operation.h"

namespace dist {

struct GroupState;

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Admitted, numbered, and about to be given to the backend. `async`: a Work will be waited for.
  virtual void issued(const GroupState& group, const Operation& operation, bool async) = 0;
  // Its buffers are the user's again: a synchronous call has returned, or the Work was waited for.
  virtual void ended(const Operation& operation) = 0;
  // The last Work was given up without a wait.
  virtual void never_waited(const Operation& operation) = 0;
};

}  // namespace dist
