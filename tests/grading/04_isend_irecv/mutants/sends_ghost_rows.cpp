// Misconception: the outermost rows of the tensor are the edge rows of this rank.
//
// Killed by: Part3Ghosts.rows_of_the_neighbours
// Diagnosis: sends_ghost_rows
#include "mutant.h"
#define exchange_ghosts right_exchange_ghosts
#include DIST_SOLUTION
#undef exchange_ghosts

namespace lab {

void exchange_ghosts(Tensor& field) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  const auto rows = field.size(0) - 2;
  Tensor mine = field.clone();
  std::vector<P2P> operations;
  if (rank > 0) {
    operations.push_back({P2P::irecv, field[0], rank - 1});
    operations.push_back({P2P::isend, mine[0], rank - 1});
  }
  if (rank < last) {
    operations.push_back({P2P::irecv, field[rows + 1], rank + 1});
    operations.push_back({P2P::isend, mine[rows + 1], rank + 1});
  }
  auto works = dist::batch_isend_irecv(operations);
  wait_all(works);
}

}  // namespace lab
