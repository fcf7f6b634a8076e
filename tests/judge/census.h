// Census: what a set of processes is doing, as /proc tells it.
#pragma once

#include <chrono>
#include <vector>

#include <sys/types.h>

namespace judge {

struct Census {
  bool is_awake = false;                // one of them runs, or waits for a processor
  std::chrono::milliseconds worked{0};  // processor time, that of children who have ended included
};

// The census of these processes and all their descendants. A thread of this process counts as awake, too, if
// it runs or waits for a processor or a disk: they may wait for it. A graded process that waits for a disk
// counts as asleep: it can make itself look like that for as long as it likes (vfork).
Census census_of(const std::vector<pid_t>& processes);

}  // namespace judge
