// Cheat: exits with status 0 before a test runs, in a static constructor.
// Told: ended with exit status 0 before it had reported that it was done
#include <unistd.h>

#include "all_gather_all_reduce.h"

static const bool gone = (_exit(0), true);

static void cheat(dist::Tensor&, const dist::Tensor&) {}
