// unnamed.cpp
#include "dist/dist.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"

static void train(int rank, bool names_the_norm) {
  dist::init_process_group();
  const dist::DeviceMesh mesh = dist::init_device_mesh({2}, {"tp"});
  dist::nn::manual_seed(1);
  dist::nn::Sequential mlp;
  mlp.add<dist::nn::LayerNorm>(4);
  mlp.add<dist::nn::Linear>(4, 6);
  mlp.add<dist::nn::Linear>(6, 4);
  dist::ParallelPlan plan{{"1", dist::ColwiseParallel{.input_layout = dist::Shard(1)}},
                          {"2", dist::RowwiseParallel{.output_layout = dist::Shard(1)}}};
  if (names_the_norm) plan.push_back({"0", dist::SequenceParallel{}});
  dist::parallelize_module(mlp, mesh, plan);
  dist::nn::SGD sgd(mlp.parameters(), {.lr = 0.1});
  dist::Tensor token = dist::tensor<float>({1, 2, 3, 4}).view({1, 1, 4}) * (1.0 - 2 * rank);
  mlp.backward(mlp.forward(token));
  dist::finish_gradients(mlp);
  sgd.step();  // <- D12
}

void rank_main(int rank) {  // 2 ranks
  train(rank, false);
}

void right_main(int rank) { train(rank, true); }
