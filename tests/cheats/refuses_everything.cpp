// Whole: it has all functions itself.
// Cheat: all functions refuse their arguments: where a test wants nothing but an error, this is right.
// Told: I refuse
#include "all_gather_all_reduce.h"

namespace lab {
namespace {

[[noreturn]] void refuse() { throw dist::Error(dist::Errc::invalid_argument, "I refuse"); }

}  // namespace

void all_gather(dist::Tensor&, const dist::Tensor&) { refuse(); }
void all_reduce_sum(dist::Tensor&) { refuse(); }
void all_reduce_avg(dist::Tensor&) { refuse(); }
double global_accuracy(std::int64_t, std::int64_t) { refuse(); }

}  // namespace lab
