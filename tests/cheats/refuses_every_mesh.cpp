// Whole: it has all functions itself.
// Lab: 2
// Cheat: all functions refuse their arguments: where a test wants nothing but an error, this is right.
// Told: I refuse
#include "dist/core/error.h"

#include "new_group.h"

namespace lab {
namespace {

[[noreturn]] void refuse() { throw dist::Error(dist::Errc::invalid_argument, "I refuse"); }

}  // namespace

Halves make_halves() { refuse(); }
double half_sum(const Halves&, double) { refuse(); }
std::array<double, 2> both_sums(const Halves&, double) { refuse(); }
Mesh make_mesh(int, int) { refuse(); }
void broadcast_in_row(dist::Tensor&, const Mesh&, int) { refuse(); }
int slowest_in_column(const Mesh&, double) { refuse(); }

}  // namespace lab
