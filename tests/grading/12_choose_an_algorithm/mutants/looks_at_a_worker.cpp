// Misconception: a parameter server costs 4 GB up and 4 GB down. (This is the traffic of each worker. The
// server has n - 1 times as much.)
//
// Killed by: Part2Predict.bytes_of_each
// Diagnosis: looks_at_a_worker
#include "mutant.h"
#define traffic right_traffic
#include DIST_SOLUTION
#undef traffic

namespace lab {

Traffic traffic(Algorithm algorithm, int ranks, double bytes) {
  auto counted = right_traffic(algorithm, ranks, bytes);
  if (algorithm == Algorithm::parameter_server) counted.busiest = bytes;
  return counted;
}

}  // namespace lab
