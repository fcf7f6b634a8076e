// Misconception: the ranks of a group are the ranks of the world (chain_broadcast).
//
// Killed by: Part3Chain.any_root
// Diagnosis: ignores_the_group
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup&) {
  right_chain_broadcast(data, root, segment, {});
}

}  // namespace lab
