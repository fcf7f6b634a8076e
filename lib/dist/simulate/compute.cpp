#include "dist/core/tasking.h"
#include "dist/simulate/simulate.h"

namespace dist::sim {

void compute(double seconds) {
  if (Tasking* const simulated = Tasking::current()) simulated->charge(seconds);
}

}  // namespace dist::sim
