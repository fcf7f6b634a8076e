// Cheat: its own main(), which exits with status 0.
// Told: does not link
#include "all_gather_all_reduce.h"

int main() { return 0; }

static void cheat(dist::Tensor&, const dist::Tensor&) {}
