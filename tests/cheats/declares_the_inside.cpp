// Cheat: declares internal functions of the library weakly, so that it links without them and still finds
// them.
//
// Told: from inside of the library
#include <vector>

#include "all_gather_all_reduce.h"

namespace dist {

struct BinaryNode {
  int parent = -1, depth = 0;
  std::vector<int> children;
};
__attribute__((weak)) BinaryNode binary_node(int rank, int n);

}  // namespace dist

static void cheat(dist::Tensor& out, const dist::Tensor&) {
  out.fill_(dist::binary_node(dist::get_rank(), dist::get_world_size()).parent);
}
