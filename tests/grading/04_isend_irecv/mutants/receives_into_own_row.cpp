// Misconception: the last row of the tensor is sent down, and what comes from below goes into the row before
// it.
//
// Killed by: Part3Ghosts.rows_of_the_neighbours
// Diagnosis: own_row_overwritten
#include "mutant.h"
#define exchange_ghosts right_exchange_ghosts
#include DIST_SOLUTION
#undef exchange_ghosts

namespace lab {

void exchange_ghosts(Tensor& field) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  const auto rows = field.size(0) - 2;
  std::vector<P2P> operations;
  if (rank > 0) {
    operations.push_back({P2P::irecv, field[0], rank - 1});
    operations.push_back({P2P::isend, field[1], rank - 1});
  }
  if (rank < last) {
    operations.push_back({P2P::irecv, field[rows], rank + 1});
    operations.push_back({P2P::isend, field[rows + 1], rank + 1});
  }
  auto works = dist::batch_isend_irecv(operations);
  wait_all(works);
}

}  // namespace lab
