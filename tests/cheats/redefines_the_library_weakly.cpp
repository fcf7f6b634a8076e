// Cheat: defines a library function weakly; the linker still takes it instead of the real one.
// Told: which a library has too
#include "all_gather_all_reduce.h"

namespace dist {

__attribute__((weak)) Work recv(Tensor&, int, const Options&, Caller) { return {}; }

}  // namespace dist

static void cheat(dist::Tensor&, const dist::Tensor&) {}
