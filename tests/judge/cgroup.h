// ControlGroup: a group of the kernel's (cgroup version 2) for one confined command and all that it starts.
// It bounds their memory and their number together, where limits of the process (door.h) count each by
// itself. It is an addition: where no group may be made, those limits hold alone.
#pragma once

#include <memory>
#include <string>

#include "dist/core/handles.h"

namespace judge {

struct Limits;

class ControlGroup {
 public:
  // In the folder of another group. Throws Trouble when the system refuses.
  explicit ControlGroup(const std::string& parent);
  ~ControlGroup();  // ends all processes in it
  ControlGroup(const ControlGroup&) = delete;

  const std::string& folder() const { return folder_; }
  int entrance() const { return entrance_.get(); }  // a process that writes "0" there is in the group

 private:
  std::string folder_;
  dist::UniqueFd entrance_;
};

// A group with these limits. If JUDGE_CGROUP names a folder, the group is made there; if it cannot be made,
// Trouble is thrown. Otherwise it is made in the group of this process; if it cannot be made, the result is
// nullptr.
std::shared_ptr<ControlGroup> control_group(const Limits& limits);

// Its parts, on the files of a group's folder:

// Why no limits can be set to groups that are made in this folder, and what to do. Empty: they can. Asks the
// kernel to pass the controllers of memory and pids on to them.
std::string why_no_limits_below(const std::string& folder);
// False when it has no such files: its parent does not pass on the controllers.
bool limit_group(const std::string& folder, const Limits& limits);
// Kills all processes in it, with those that they start meanwhile.
void end_all_in(const std::string& folder);

}  // namespace judge
