// Misconception: sends are waited for at the end, so their tensors are kept until then. (One for each
// micro-batch.)
//
// Killed by: Part3Step.memory_of_what_is_in_flight
// Diagnosis: keeps_more_than_is_in_flight
#include "mutant.h"
#define is_completed() source_rank() < -1
#include DIST_SOLUTION
