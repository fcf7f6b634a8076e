// CallObserver: notified of every call of one rank and of what becomes of it. The simulator's checker and
// tracer listen here; on real ranks only asynchronous calls are watched, and what becomes of their Work.
#pragma once

#include "dist/backend/operation.h"
#include "dist/check/copies.h"
#include "dist/check/finding.h"

namespace dist {

struct GroupState;

// What is kept of a call while its Work exists.
struct CallNote {
  CallNote(const GroupState& group, const Operation& operation);
  std::string doing() const;  // "send #0 (4 f32)"

  OpKind kind;
  DType dtype;
  int rank;  // global
  std::int64_t count;
  std::uint64_t sequence, record;
  CallSite where;
};

class CallObserver {
 public:
  explicit CallObserver(bool sees_everything_) : sees_everything(sees_everything_) {}
  virtual ~CallObserver() = default;

  const bool sees_everything;  // whether issued() and, for synchronous calls, ended() are called

  // The call was admitted and numbered, and goes to the backend next. `async`: a Work will be waited for, and
  // the operation may get other tensors instead of the user's until it has ended.
  virtual void issued(const GroupState& group, Operation& operation, bool async) {
    (void)group, (void)operation, (void)async;
  }
  // The rank waits for its Work without a time limit, or no longer does.
  virtual void waiting(const CallNote& call, bool yes) { (void)call, (void)yes; }
  // The call's buffers are the user's again: a synchronous call has returned, or the Work was waited for.
  virtual void ended(std::uint64_t record) { (void)record; }
  // The same, after an error.
  virtual void failed(std::uint64_t record) { (void)record; }
  // The last Work was dropped without a wait.
  virtual void never_waited(const CallNote& call) = 0;
  // What this rank has of something that should be equal on all ranks of a group.
  virtual void has_copies(const GroupState& group, check::Copies copies) { (void)group, (void)copies; }
  // Something else is wrong with the program. False: an error must say so.
  virtual bool found(check::Finding finding) {
    (void)finding;
    return false;
  }
};

}  // namespace dist
