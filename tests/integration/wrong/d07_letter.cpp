// letter.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor t = dist::ones({4});
  if (rank == 0) dist::send(t, 1);  // <- D7
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor t = dist::ones({4});
  if (rank == 0) dist::send(t, 1);
  if (rank == 1) dist::recv(t, 0);
}
