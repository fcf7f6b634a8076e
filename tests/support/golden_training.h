// The training runs of tests/golden/ddp_training.json (its README.md says how PyTorch made them): their
// models, their data and what came out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

namespace dist::test {

struct GoldenRank {
  std::vector<double> losses, first_step_grad_l2, final_param_l2, final_param_sum;
  std::map<std::string, double> buffers_l2;
};

struct GoldenRun {
  std::string model, optimizer;
  int world_size = 0, steps = 0, batch = 0;  // the batch of a rank
  double lr = 0, momentum = 0;
  std::vector<GoldenRank> ranks;

  std::string name() const;  // "convnet_2_ranks_sgd"
  friend void PrintTo(const GoldenRun& run, std::ostream* out) { *out << run.name(); }
  std::int64_t classes() const;   // 4 or 10
  double loss_tolerance() const;  // relative
  double norm_tolerance() const;  // relative
};

std::vector<GoldenRun> golden_runs();

// With its initial values.
std::unique_ptr<nn::Module> golden_model(const GoldenRun& run);
std::unique_ptr<nn::Optimizer> golden_optimizer(const GoldenRun& run, nn::Module& model);

// A bias before a batch norm, which subtracts it again: its gradient is 0, and what came out of PyTorch
// is rounding, below 1e-5.
bool is_taken_off(const std::string& parameter);

struct GoldenBatch {
  Tensor input, targets;
};
GoldenBatch golden_batch(const GoldenRun& run, int rank, int step);

double l2_norm(const Tensor& t);  // in double

}  // namespace dist::test
