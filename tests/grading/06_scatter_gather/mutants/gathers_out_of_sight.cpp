// Misconception: memory that is not in a tensor costs nothing, so every rank may have room for all chunks.
//
// Killed by: Part2Gather.only_its_own_chunk
// Diagnosis: room_for_everything
#include "mutant.h"
#define gather right_gather
#include DIST_SOLUTION
#undef gather

namespace lab {

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  const std::vector<std::byte> room(mine.nbytes() * static_cast<std::size_t>(dist::get_world_size()),
                                    std::byte{1});
  right_gather(mine, list, root);
  if (!room.empty() && room.back() != std::byte{1}) list.clear();
}

}  // namespace lab
