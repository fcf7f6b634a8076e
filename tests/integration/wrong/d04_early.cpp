// early.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor t = dist::ones({4});
  if (rank == 0) return void(dist::send(t, 1));
  dist::Work coming = dist::irecv(t, 0);  // <- D4
  const double first = dist::sum(t);
  coming.wait();
  t.mul_(first);
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor t = dist::ones({4});
  if (rank == 0) return void(dist::send(t, 1));
  dist::Work coming = dist::irecv(t, 0);
  coming.wait();
  const double first = dist::sum(t);
  t.mul_(first);
}
