// Misconception: every rank has two neighbours, and the remainder of a division finds them.
//
// Killed by: Part3Ghosts.rows_of_the_neighbours
// Diagnosis: the_grid_as_a_ring
#include "mutant.h"
#define exchange_ghosts right_exchange_ghosts
#include DIST_SOLUTION
#undef exchange_ghosts

namespace lab {

void exchange_ghosts(Tensor& field) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int above = (rank + n - 1) % n, below = (rank + 1) % n;
  const auto rows = field.size(0) - 2;
  auto works = dist::batch_isend_irecv({{P2P::irecv, field[0], above, {}, 1},
                                        {P2P::isend, field[1], above, {}, 2},
                                        {P2P::irecv, field[rows + 1], below, {}, 2},
                                        {P2P::isend, field[rows], below, {}, 1}});
  wait_all(works);
}

}  // namespace lab
