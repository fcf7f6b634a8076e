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

// Writes the limits into the files of a group's folder. False when it has no such files: its parent does not
// pass on the controllers of memory and pids.
bool limit_group(const std::string& folder, const Limits& limits);

// A group with these limits; nullptr where none can be had. Its parent is the folder that JUDGE_CGROUP names,
// or else the group of this process, if that passes on the controllers.
std::shared_ptr<ControlGroup> control_group(const Limits& limits);

}  // namespace judge
