// Cheat: a library function of its own, weakly, taken instead of the real one all the same.
// Told: which a library has too
#include "all_gather_all_reduce.h"

namespace dist {

__attribute__((weak)) Work recv(Tensor&, int, const Options&, Caller) { return {}; }

}  // namespace dist

static void cheat(dist::Tensor&, const dist::Tensor&) {}
