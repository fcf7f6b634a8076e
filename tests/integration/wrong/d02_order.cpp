// order.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor loss = dist::ones({4}), weights = dist::full({4}, rank);
  if (rank == 0) {
    dist::all_reduce(loss);  // <- D2
    dist::broadcast(weights, 0);
  } else {
    dist::broadcast(weights, 0);  // <- D2
    dist::all_reduce(loss);
  }
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor loss = dist::ones({4}), weights = dist::full({4}, rank);
  dist::all_reduce(loss);
  dist::broadcast(weights, 0);
}
