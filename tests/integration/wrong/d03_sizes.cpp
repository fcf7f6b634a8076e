// sizes.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor t = dist::ones({4 + rank});
  if (rank == 0) dist::send(t, 1);  // <- D3
  if (rank == 1) dist::recv(t, 0);  // <- D3
}

void right_main(int rank) {
  dist::init_process_group();
  if (rank == 0) {
    dist::Tensor t = dist::ones({4}), length = dist::full({1}, 4, dist::DType::i64);
    dist::send(length, 1);
    dist::send(t, 1);
  } else {
    dist::Tensor length = dist::zeros({1}, dist::DType::i64);
    dist::recv(length, 0);
    dist::Tensor t = dist::zeros({length.item<std::int64_t>()});
    dist::recv(t, 0);
  }
}
