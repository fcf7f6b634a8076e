// ring.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 3 ranks
  dist::init_process_group();
  dist::Tensor mine = dist::full({4}, rank), theirs = dist::zeros({4});
  dist::Work sent = dist::isend(mine, (rank + 1) % 3);
  dist::Work coming = dist::irecv(theirs, (rank + 2) % 3);  // <- D4
  sent.wait();                                              // the other wait() does not count for it
  dist::Tensor both = dist::zeros({4});
  both.add_(theirs);
  coming.wait();
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor mine = dist::full({4}, rank), theirs = dist::zeros({4});
  dist::Work sent = dist::isend(mine, (rank + 1) % 3);
  dist::Work coming = dist::irecv(theirs, (rank + 2) % 3);
  sent.wait();
  coming.wait();
  dist::Tensor both = dist::zeros({4});
  both.add_(theirs);
}
