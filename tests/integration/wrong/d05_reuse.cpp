// reuse.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor t = dist::ones({4});
  if (rank == 1) return void(dist::recv(t, 0));
  dist::Work sent = dist::isend(t, 1);  // <- D5
  t.fill_(2);
  sent.wait();
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor t = dist::ones({4});
  if (rank == 1) return void(dist::recv(t, 0));
  dist::Work sent = dist::isend(t, 1);
  sent.wait();
  t.fill_(2);
}
