// Misconception: process `rank` takes GPU `rank`, as in many examples. This works on the first node only.
//
// Killed by: Part3Describe.names_pid_host_and_device
// Diagnosis: gpu_by_global_rank
#include "mutant.h"
#define describe right_describe
#include DIST_SOLUTION
#undef describe

namespace lab {

std::string describe(const Process& process) {
  auto wrong = process;
  wrong.place.local_rank = process.place.rank;
  return right_describe(wrong);
}

}  // namespace lab
