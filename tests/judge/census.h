// Census: what a set of processes is doing, as /proc tells it.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include <sys/types.h>

namespace judge {

struct Census {
  bool is_awake = false;                // one of them runs, or waits for a processor
  std::chrono::milliseconds worked{0};  // processor time, that of children who have ended included
  // How long each thread has run, and waited to run, the looking one included. Empty where the kernel does
  // not say.
  std::map<pid_t, std::chrono::nanoseconds> ran = {};
};

// The census of these processes and all their descendants. A thread of this process counts as awake, too, if
// it runs or waits for a processor or a disk: they may wait for it. A graded process that waits for a disk
// counts as asleep: it can make itself look like that for as long as it likes (vfork).
// Threads are looked at one after the other, and meanwhile one may wake another and go to sleep itself, and a
// busy machine makes that time long. So what has run, or waited to run, for half of that time is awake.
Census census_of(const std::vector<pid_t>& processes);

// How long the threads of the later census have run and waited since the earlier one, all of them together.
std::chrono::nanoseconds ran_between(const Census& earlier, const Census& later);

}  // namespace judge
