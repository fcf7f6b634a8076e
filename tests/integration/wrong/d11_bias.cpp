// bias.cpp
#include "dist/dist.h"
#include "dist/parallel/tensor/parallelize.h"

static void run(bool adds_bias_everywhere) {
  dist::init_process_group();
  const dist::DeviceMesh mesh = dist::init_device_mesh({3}, {"tp"});
  dist::nn::manual_seed(1);
  dist::nn::Sequential mlp;
  mlp.add<dist::nn::Linear>(4, 6);
  mlp.add<dist::nn::GELU>();
  auto& last = mlp.add<dist::nn::Linear>(6, 4);
  const dist::ParallelPlan plan{{"0", dist::ColwiseParallel{}}, {"2", dist::RowwiseParallel{}}};
  dist::parallelize_module(mlp, mesh, plan);  // <- D11
  if (adds_bias_everywhere) last.set_adds_bias(true);
  mlp.forward(dist::ones({2, 4}));
}

void rank_main(int) {  // 3 ranks
  run(true);
}

void right_main(int) { run(false); }
