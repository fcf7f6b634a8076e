// Cheat: the same with variables of a thread.
// Told: cannot be started
#include "all_gather_all_reduce.h"

static thread_local char room[std::size_t{1} << 30];

static void cheat(dist::Tensor&, const dist::Tensor&) { asm volatile("" ::"r"(&room[0]) : "memory"); }
