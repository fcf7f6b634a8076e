// Call: one call of a user on its way through the checks to the backend. Everything is checked before
// anything moves, and a call that is refused leaves the group as it was.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/backend/operation.h"
#include "dist/group/group_state.h"
#include "dist/group/process_group.h"
#include "dist/group/rank_context.h"

namespace dist {

// The group that a handle means: an empty handle means the default group. While this object lives, another
// thread that destroys the group waits for it.
class GroupInUse {
 public:
  // Error{not_initialized}, naming the call and its line, when there is no such group or when it was
  // destroyed.
  GroupInUse(const ProcessGroup& group, std::string_view call, CallSite where);
  GroupState& operator*() const { return *state_; }
  GroupState* operator->() const { return state_; }

 private:
  [[noreturn]] static void fail_destroyed(const GroupState& group, std::string_view call, CallSite where);

  RankContext* const context_;  // null: the handle names a group
  Gate::Pass pass_;
  GroupState* state_;
};

// Error{not_initialized}: the rank is not in a job, or the thread does not belong to a rank.
[[noreturn]] void fail_without_group(std::string_view call, CallSite where);

class Call {
 private:
  GroupInUse group_in_use_;

 public:
  // `name`: the function that the user called, for messages. Refuses a group that this rank is not a member
  // of.
  Call(OpKind kind, std::string_view name, const Options& options, CallSite where);

  // Throws Error{invalid_argument}: "rank 1: all_gather at train.cpp:12: <why>".
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    refuse_text(fmt::format(format, std::forward<Args>(args)...));
  }

  // Refuses an undefined tensor; `argument` is the name that the user knows it by: "t".
  void check_defined(std::string_view argument, const Tensor& tensor) const {
    if (!tensor.is_defined()) refuse("{} is an undefined tensor", argument);
  }
  // The group rank that the user means by a global rank, or by `.group_src` / `.group_dst` when one of those
  // is given.
  int group_rank(std::string_view argument, int global, int in_group) const;
  void set_root(std::string_view argument, int global, int in_group) {
    operation.root = group_rank(argument, global, in_group);
  }
  bool is_root() const { return operation.root == group.rank; }

  // Refuses an operation that the backend does not have for these tensors, or an algorithm that does not
  // exist.
  void check_supported() const;
  // Numbers the call and records it: nothing may refuse it afterwards.
  void admit();
  // check_supported(), admit(), then runs or submits it.
  Work issue();

  GroupState& group;
  const std::string_view name;
  const bool async;
  Operation operation;

 private:
  [[noreturn]] void refuse_text(const std::string& why) const;
  [[noreturn]] void refuse_non_member() const;
  [[noreturn]] void refuse_second_thread() const;
  void check_options(const Options& options) const;
  void check_device(Device device) const;
};

}  // namespace dist
