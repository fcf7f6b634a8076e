// Misconception: every process has a GPU of its own.
//
// Killed by: Part3Describe.names_pid_host_and_device
// Diagnosis: no_gpu_for_everybody
#include "mutant.h"
#define describe right_describe
#include DIST_SOLUTION
#undef describe

namespace lab {

std::string describe(const Process& process) {
  const auto device =
      process.gpus == 0 ? std::string("cpu") : fmt::format("cuda:{}", process.place.local_rank);
  return fmt::format("pid {} on {}, {}", process.pid, process.host, device);
}

}  // namespace lab
