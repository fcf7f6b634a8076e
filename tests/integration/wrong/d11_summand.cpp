// summand.cpp
#include "dist/dist.h"
#include "dist/mesh/dtensor.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  const dist::DeviceMesh mesh = dist::init_device_mesh({2}, {"tp"});
  dist::Tensor y = dist::full({4}, 1 + rank);  // this rank's columns of X times its rows of W
  const auto whole = dist::DTensor::from_local(y, mesh, {dist::Replicate()});
  dist::Tensor next = whole.full_tensor();  // <- D11
}

void right_main(int rank) {
  dist::init_process_group();
  const dist::DeviceMesh mesh = dist::init_device_mesh({2}, {"tp"});
  dist::Tensor y = dist::full({4}, 1 + rank);
  const auto whole = dist::DTensor::from_local(y, mesh, {dist::Partial()});
  dist::Tensor next = whole.full_tensor();
}
