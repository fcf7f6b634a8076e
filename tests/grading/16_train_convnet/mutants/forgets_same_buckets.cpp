// Misconception: DistributedDataParallel's own options will do. (It fills its buckets anew after its first
// step, which a resumed run has, too: there it adds in another order than the run that was never stopped.)
//
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: adds_in_another_order
#include "mutant.h"
#define same_buckets \
  dist::DdpOptions {}
#include DIST_SOLUTION
