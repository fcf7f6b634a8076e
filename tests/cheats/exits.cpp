// Cheat: exits with status 0 at once, as if a good exit status were a right answer.
// Told: ended with exit status 0 before it had reported that it was done
#include <cstdlib>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) { std::exit(0); }
