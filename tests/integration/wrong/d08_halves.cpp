// halves.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor t = dist::full({8}, rank);
  dist::Tensor left = t.narrow(0, 5), right = t.narrow(4, 4);                       // both have element 4
  dist::Work a = dist::all_reduce(left, dist::ReduceOp::sum, {.async_op = true});   // <- D8
  dist::Work b = dist::all_reduce(right, dist::ReduceOp::sum, {.async_op = true});  // <- D8
  a.wait();
  b.wait();
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor t = dist::full({8}, rank);
  dist::Tensor left = t.narrow(0, 4), right = t.narrow(4, 4);
  dist::Work a = dist::all_reduce(left, dist::ReduceOp::sum, {.async_op = true});
  dist::Work b = dist::all_reduce(right, dist::ReduceOp::sum, {.async_op = true});
  a.wait();
  b.wait();
}
