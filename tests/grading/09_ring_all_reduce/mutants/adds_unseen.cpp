// Misconception: acc.add_(arrived) is the same as add(acc, arrived). (The numbers are the same, but in the
// simulation it takes no time, so nothing is left to hide.)
//
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: adds_unseen
#include "mutant.h"
#define add(acc, arrived) (acc).add_(arrived)
#include DIST_SOLUTION
