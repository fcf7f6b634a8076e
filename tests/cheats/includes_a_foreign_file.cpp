// Cheat: includes what is inside of the library.
// Told: dist/dist.h and the lab's own header are what it may include
#include "dist/transport/transport.h"

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {}
