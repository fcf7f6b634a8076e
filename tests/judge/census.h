// Census: what a set of processes is doing, as /proc tells it.
#pragma once

#include <chrono>
#include <vector>

#include <sys/types.h>

namespace judge {

struct Census {
  bool is_awake = false;                // somebody runs, waits for a processor, or for a disk
  std::chrono::milliseconds worked{0};  // processor time, that of children who have ended included
};

// Of these processes and all their descendants; awake is also who is so in another thread of this process, as
// they may wait for it.
Census census_of(const std::vector<pid_t>& processes);

}  // namespace judge
