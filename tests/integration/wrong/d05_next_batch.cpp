// next_batch.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor batch = dist::full({4}, rank), all = dist::zeros({8});
  dist::Work gathered = dist::all_gather_into_tensor(all, batch, {.async_op = true});  // <- D5
  if (rank == 1) batch.fill_(7);                                                       // the next one
  gathered.wait();
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor batch = dist::full({4}, rank), all = dist::zeros({8});
  dist::Work gathered = dist::all_gather_into_tensor(all, batch, {.async_op = true});
  dist::Tensor next = dist::full({4}, 7);
  gathered.wait();
}
