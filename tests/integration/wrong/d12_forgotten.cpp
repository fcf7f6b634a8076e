// forgotten.cpp
#include "dist/dist.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  const dist::DeviceMesh mesh = dist::init_device_mesh({2}, {"tp"});
  dist::nn::LayerNorm norm(4);
  dist::parallelize_module(norm, mesh, {{"", dist::SequenceParallel{}}});
  dist::nn::SGD sgd(norm.parameters(), {.lr = 0.1});
  norm.forward(dist::tensor<float>({1, 2, 3, 4}).view({1, 1, 4}));  // this rank's token
  norm.backward(dist::full({1, 1, 4}, 1 + rank));
  sgd.step();  // <- D12
}

void right_main(int rank) {
  dist::init_process_group();
  const dist::DeviceMesh mesh = dist::init_device_mesh({2}, {"tp"});
  dist::nn::LayerNorm norm(4);
  dist::parallelize_module(norm, mesh, {{"", dist::SequenceParallel{}}});
  dist::nn::SGD sgd(norm.parameters(), {.lr = 0.1});
  norm.forward(dist::tensor<float>({1, 2, 3, 4}).view({1, 1, 4}));
  norm.backward(dist::full({1, 1, 4}, 1 + rank));
  dist::finish_gradients(norm);
  sgd.step();
}
