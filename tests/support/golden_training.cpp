#include "support/golden_training.h"

#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dist/nn/adam.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/linear.h"
#include "dist/nn/relu.h"
#include "dist/nn/sequential.h"
#include "dist/nn/sgd.h"

namespace dist::test {

namespace {

GoldenRank rank_from(const nlohmann::json& json) {
  return {.losses = json.at("losses"),
          .first_step_grad_l2 = json.at("first_step_grad_l2"),
          .final_param_l2 = json.at("final_param_l2"),
          .final_param_sum = json.at("final_param_sum"),
          .buffers_l2 = json.at("buffers_l2")};
}

std::unique_ptr<nn::Module> mlp() {
  auto model = std::make_unique<nn::Sequential>();
  model->add<nn::Linear>(8, 16);
  model->add<nn::ReLU>();
  model->add<nn::Linear>(16, 4);
  return model;
}

}  // namespace

std::string GoldenRun::name() const { return fmt::format("{}_{}_ranks_{}", model, world_size, optimizer); }
std::int64_t GoldenRun::classes() const { return model == "mlp" ? 4 : 10; }
double GoldenRun::loss_tolerance() const { return model == "mlp" ? 5e-6 : 1e-4; }
double GoldenRun::norm_tolerance() const { return model == "mlp" ? 1e-5 : 1e-3; }

std::vector<GoldenRun> golden_runs() {
  std::ifstream file(DIST_GOLDEN_DIR "/ddp_training.json");
  std::vector<GoldenRun> runs;
  for (const auto& json : nlohmann::json::parse(file)) {
    GoldenRun run{.model = json.at("model"),
                  .optimizer = json.at("optimizer"),
                  .world_size = json.at("world_size"),
                  .steps = json.at("steps"),
                  .batch = json.at("batch_per_rank"),
                  .lr = json.at("lr"),
                  .momentum = json.at("momentum"),
                  .ranks = {}};
    for (const auto& rank : json.at("per_rank")) run.ranks.push_back(rank_from(rank));
    runs.push_back(std::move(run));
  }
  return runs;
}

std::unique_ptr<nn::Module> golden_model(const GoldenRun& run) {
  std::unique_ptr<nn::Module> model = run.model == "mlp" ? mlp() : std::make_unique<nn::ConvNet>();
  int k = -1;
  for (const auto& [name, parameter] : model->named_parameters()) {
    ++k;
    if (name.starts_with("cnn.1.") || name.starts_with("cnn.5.")) continue;  // batch norms: as they are made
    double i = 0;
    for (float& element : parameter->value.data<float>())
      element = static_cast<float>(0.3 * std::sin(0.7 * i++ + 1.3 * k));
  }
  return model;
}

std::unique_ptr<nn::Optimizer> golden_optimizer(const GoldenRun& run, nn::Module& model) {
  if (run.optimizer == "adam")
    return std::make_unique<nn::Adam>(model.parameters(), nn::AdamOptions{.lr = run.lr});
  return std::make_unique<nn::SGD>(model.parameters(),
                                   nn::SGDOptions{.lr = run.lr, .momentum = run.momentum});
}

bool is_taken_off(const std::string& parameter) {
  return parameter == "cnn.0.bias" || parameter == "cnn.4.bias";
}

GoldenBatch golden_batch(const GoldenRun& run, int rank, int step) {
  const std::int64_t features = run.model == "mlp" ? 8 : 784;
  GoldenBatch batch{empty({run.batch, features}), empty({run.batch}, DType::i64)};
  for (int j = 0; j < run.batch; ++j) {
    const std::int64_t g = 1000 * step + rank * run.batch + j;
    batch.targets.data<std::int64_t>()[static_cast<std::size_t>(j)] = g % run.classes();
    double i = 1;
    Tensor row = batch.input[j];
    for (float& element : row.data<float>())
      element = static_cast<float>((1 + 0.5 * rank) *
                                   std::sin(0.01 * i++ * static_cast<double>(g % 97 + 1) + rank));
  }
  if (run.model != "mlp") batch.input = batch.input.view({run.batch, 1, 28, 28});
  return batch;
}

double l2_norm(const Tensor& t) {
  double squares = 0;
  for (const double x : t.to_vector<double>()) squares += x * x;
  return std::sqrt(squares);
}

}  // namespace dist::test
