// Misconception: memory that is not in a tensor costs nothing, so every rank may have room for all chunks.
//
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: room_for_everything
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const std::vector<std::byte> room(mine.nbytes() * static_cast<std::size_t>(dist::get_world_size()),
                                    std::byte{1});
  right_tree_scatter(mine, all, root);
  if (!room.empty() && room.back() != std::byte{1}) mine.zero_();
}

}  // namespace lab
