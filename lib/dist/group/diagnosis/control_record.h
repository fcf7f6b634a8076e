// What is reported of a control call (control.h): to the observers, and in its errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/core/error.h"
#include "dist/group/control.h"

namespace dist {

// Notifies the observers of a control call, and adds the other ranks' state to its timeouts.
class ControlRecord {
 public:
  ControlRecord(GroupState& group, const ControlCall& call, std::uint64_t sequence);
  void completed();
  [[noreturn]] void failed(const Error& error);  // throws the error that the user gets

 private:
  GroupState& group_;
  CallSite where_;
  std::uint64_t id_ = 0;
};

// Error{timeout}: the members with the group ranks `absent` did not come.
[[noreturn]] void fail_absent(const GroupState& group, const ControlCall& call, const ControlMessage& mine,
                              std::vector<int> absent);
// Says which rank calls what, and adds D9 when the difference is about groups.
std::string disagreement(const GroupState& group, const ControlCall& call,
                         const std::vector<ControlMessage>& messages);

}  // namespace dist
