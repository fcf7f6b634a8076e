// dtypes.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 3 ranks
  dist::init_process_group();
  dist::Tensor t = dist::ones({4}, rank == 2 ? dist::DType::i32 : dist::DType::f32);
  dist::all_reduce(t);  // <- D3
}

void right_main(int) {
  dist::init_process_group();
  dist::Tensor t = dist::ones({4}, dist::DType::f32);
  dist::all_reduce(t);
}
