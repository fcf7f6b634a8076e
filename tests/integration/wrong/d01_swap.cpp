// swap.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor mine = dist::full({4}, rank), theirs = dist::zeros({4});
  dist::send(mine, 1 - rank);  // <- D1
  dist::recv(theirs, 1 - rank);
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor mine = dist::full({4}, rank), theirs = dist::zeros({4});
  dist::Work sent = dist::isend(mine, 1 - rank);
  dist::recv(theirs, 1 - rank);
  sent.wait();
}
