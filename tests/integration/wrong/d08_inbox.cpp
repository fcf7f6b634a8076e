// inbox.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 3 ranks
  dist::init_process_group();
  dist::Tensor t = dist::full({4}, rank);
  if (rank != 0) return void(dist::send(t, 0));
  dist::Work first = dist::irecv(t, 1);   // <- D8
  dist::Work second = dist::irecv(t, 2);  // <- D8
  first.wait();
  second.wait();
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor t = dist::full({4}, rank);
  if (rank != 0) return void(dist::send(t, 0));
  dist::Tensor ones = dist::zeros({4}), twos = dist::zeros({4});
  dist::Work first = dist::irecv(ones, 1);
  dist::Work second = dist::irecv(twos, 2);
  first.wait();
  second.wait();
  ones.add_(twos);
}
