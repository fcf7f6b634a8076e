// Misconception: a host has at least one GPU.
//
// Killed by: Part3Describe.names_pid_host_and_device
// Diagnosis: none
#include "mutant.h"
#define describe right_describe
#include DIST_SOLUTION
#undef describe

namespace lab {

std::string describe(const Process& process) {
  return fmt::format("pid {} on {}, cuda:{}", process.pid, process.host,
                     process.place.local_rank % std::max(process.gpus, 1));
}

}  // namespace lab
