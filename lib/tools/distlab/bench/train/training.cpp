// The model, its optimizer and its batch, as README.md describes them; a turn of steps.
#include "distlab/bench/train/training.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/nn/adam.h"
#include "dist/nn/clip_grad_norm.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/gpt.h"
#include "dist/nn/random.h"
#include "dist/nn/safetensors.h"
#include "dist/nn/settings.h"
#include "dist/nn/sgd.h"

#include "distlab/bench/statistics.h"

namespace distlab::bench {
namespace {

namespace nn = dist::nn;

bool is_gpt(const TrainBenchOptions& options) { return options.model == "gpt"; }

std::unique_ptr<nn::Module> make_model(const TrainBenchOptions& options) {
  nn::manual_seed(1);
  if (is_gpt(options))
    return std::make_unique<nn::GPT>(nn::GptOptions{.vocab_size = options.vocab,
                                                    .context = options.context,
                                                    .layers = options.layers,
                                                    .heads = options.heads,
                                                    .width = options.width});
  auto model = std::make_unique<nn::ConvNet>();
  model->skip_input_grad();
  return model;
}

std::unique_ptr<nn::Optimizer> make_optimizer(const TrainBenchOptions& options, nn::Module& model) {
  if (!is_gpt(options))
    return std::make_unique<nn::SGD>(model.parameters(), nn::SGDOptions{.lr = 0.02, .momentum = 0.9});
  return std::make_unique<nn::AdamW>(nn::decay_groups(model.parameters()),
                                     nn::AdamWOptions{.lr = 1e-3, .betas = {0.9, 0.95}, .weight_decay = 0.1});
}

// Number i of batch * (context + 1) tokens; the targets are the same rows, one token later.
void make_text(const TrainBenchOptions& options, dist::Tensor& inputs, dist::Tensor& targets) {
  const std::int64_t time = options.context;
  inputs = dist::empty({options.batch_size, time}, dist::DType::i64, dist::cpu);
  targets = empty_like(inputs);
  for (std::int64_t row = 0, i = 0; row < options.batch_size; ++row)
    for (std::int64_t t = 0; t <= time; ++t, ++i) {
      const std::int64_t token = (i * i + 5 * i) / 3 % options.vocab;
      if (t < time) inputs.data<std::int64_t>()[static_cast<std::size_t>(row * time + t)] = token;
      if (t > 0) targets.data<std::int64_t>()[static_cast<std::size_t>(row * time + t - 1)] = token;
    }
}

void make_images(const TrainBenchOptions& options, dist::Tensor& inputs, dist::Tensor& targets) {
  inputs = dist::empty({options.batch_size, 1, 28, 28}, dist::DType::f32, dist::cpu);
  targets = dist::empty({options.batch_size}, dist::DType::i64, dist::cpu);
  double i = 0;
  for (float& pixel : inputs.data<float>()) pixel = static_cast<float>(std::sin(0.37 * i++));
  std::int64_t image = 0;
  for (std::int64_t& label : targets.data<std::int64_t>()) label = image++ % 10;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  return 0;
}

}  // namespace

TrainSteps::TrainSteps(const TrainBenchOptions& options)
    : options_(options),
      device_(options.device == "cuda" ? dist::cuda(0) : dist::cpu),
      model_(make_model(options)),
      step_(device_, [this](const dist::Tensor& inputs, const dist::Tensor& targets) {
        return step(inputs, targets);
      }) {
  nn::set_num_threads(options.threads);
  nn::set_matmul_precision(options.dtype == "tf32" ? "high" : "highest");
  nn::set_tf32_convolutions(options.dtype != "f32");
  is_gpt(options) ? make_text(options, inputs_, targets_) : make_images(options, inputs_, targets_);
  if (device_ != dist::cpu) model_->to(device_);
  if (options.dtype == "bf16") {
    model_->to(dist::DType::bf16);
    if (!is_gpt(options)) inputs_ = inputs_.to(dist::DType::bf16);
  }
  inputs_ = inputs_.to(device_);
  targets_ = targets_.to(device_);
  optimizer_ = make_optimizer(options, *model_);
}

void TrainSteps::save(const std::filesystem::path& file) {
  nn::StateDict state;
  for (const auto& [name, parameter] : model_->named_parameters())
    state.push_back({name, parameter->value.to(dist::cpu).to(dist::DType::f32)});
  nn::save_safetensors(file, state);
}

std::int64_t TrainSteps::parameters() const {
  std::int64_t count = 0;
  for (const nn::Parameter* const parameter : model_->parameters()) count += parameter->value.numel();
  return count;
}

nn::Loss TrainSteps::step(const dist::Tensor& inputs, const dist::Tensor& targets) {
  auto loss = loss_.forward(model_->forward(inputs), targets);
  optimizer_->zero_grad();
  model_->backward(loss_.backward());
  if (is_gpt(options_)) nn::clip_grad_norm(model_->parameters(), 1);
  optimizer_->step();
  return loss;
}

// The host reads the loss of each step on a CPU, and only the last one on a GPU, so that it is free to run
// ahead.
TrainTurn TrainSteps::train(int steps) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  std::vector<double> times;
  TrainTurn turn;
  const double busy = cpu_seconds();
  auto began = Clock::now();
  for (int i = 0; i < steps; ++i) {
    const auto loss = step_(inputs_, targets_);
    if (device_ != dist::cpu && i + 1 < steps) continue;
    turn.loss = loss.item();
    times.push_back(seconds_since(began));
    began = Clock::now();
  }
  turn.step = device_ == dist::cpu ? median(times) : times.back() / steps;
  turn.cpu = (cpu_seconds() - busy) / steps;
  turn.peak_bytes = peak_bytes();
  return turn;
}

double TrainSteps::graphs_alone(int steps) {
  auto& gpu = dist::device_api(device_.type);
  const auto wait = [&] { gpu.synchronize(device_, dist::current_stream(device_)); };
  wait();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step_.launch_graphs_alone();
  wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() / steps;
}

}  // namespace distlab::bench
