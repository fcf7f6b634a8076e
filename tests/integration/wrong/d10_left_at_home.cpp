// left_at_home.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group({.backend = "nccl"});
  dist::Tensor t = dist::full({4}, rank);
  dist::all_reduce(t);  // <- D10
}

void right_main(int rank) {
  dist::init_process_group({.backend = "host"});
  dist::Tensor t = dist::full({4}, rank);
  dist::all_reduce(t);
}
