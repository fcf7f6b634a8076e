// one_more.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor t = dist::ones({4});
  const int steps = rank == 0 ? 4 : 3;  // the batches do not divide evenly
  for (int i = 0; i < steps; ++i) {
    if (rank == 0) dist::send(t, 1);  // <- D7
    if (rank == 1) dist::recv(t, 0);
  }
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor t = dist::ones({4}), steps = dist::full({1}, rank == 0 ? 4 : 3);
  dist::all_reduce(steps, dist::ReduceOp::min);
  for (int i = 0; i < steps.item<int>(); ++i) {
    if (rank == 0) dist::send(t, 1);
    if (rank == 1) dist::recv(t, 0);
  }
}
