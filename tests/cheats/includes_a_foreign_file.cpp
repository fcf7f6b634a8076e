// Cheat: includes what is inside of the library.
// Told: does not compile
#include "dist/transport/transport.h"

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {}
