// outsider.cpp
#include "dist/dist.h"

void rank_main(int) {  // 3 ranks
  dist::init_process_group();
  dist::ProcessGroup pair = dist::new_group({0, 1});
  dist::Tensor t = dist::ones({4});
  dist::all_reduce(t, dist::ReduceOp::sum, {.group = pair});  // <- D9
}

void right_main(int) {
  dist::init_process_group();
  dist::ProcessGroup pair = dist::new_group({0, 1});
  dist::Tensor t = dist::ones({4});
  if (pair.is_member()) dist::all_reduce(t, dist::ReduceOp::sum, {.group = pair});
}
