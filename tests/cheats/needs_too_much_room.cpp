// Cheat: has more global variables than a rank has memory, so that the grader's loader cannot look at it.
// Told: cannot be started
#include "all_gather_all_reduce.h"

static char room[std::size_t{1} << 30];

static void cheat(dist::Tensor&, const dist::Tensor&) { asm volatile("" ::"r"(&room[0]) : "memory"); }
