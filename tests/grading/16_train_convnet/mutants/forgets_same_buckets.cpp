// Misconception: the default options of DistributedDataParallel are enough. (It fills its buckets anew after
// its first step, and a resumed run has a first step, too: in that step it adds in a different order from a
// run that was never interrupted.)
//
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: adds_in_another_order
#include "mutant.h"
#define same_buckets \
  dist::DdpOptions {}
#include DIST_SOLUTION
