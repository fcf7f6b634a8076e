// second_group.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 3 ranks
  dist::init_process_group({.backend = "host"});
  dist::ProcessGroup fast = dist::new_group({0, 1}, {.backend = "nccl"});
  dist::Tensor t = dist::full({4}, rank);
  dist::all_reduce(t);
  if (rank == 0) dist::send(t, 1, {.group = fast});  // <- D10
  if (rank == 1) dist::recv(t, 0, {.group = fast});  // <- D10
}

void right_main(int rank) {
  dist::init_process_group({.backend = "host"});
  dist::ProcessGroup pair = dist::new_group({0, 1});
  dist::Tensor t = dist::full({4}, rank);
  dist::all_reduce(t);
  if (rank == 0) dist::send(t, 1, {.group = pair});
  if (rank == 1) dist::recv(t, 0, {.group = pair});
}
