// Lab 14, the demonstration, sections 6 and 7: DataParallel beside DDP. The gradients are those of the
// library's two classes. For the times, each virtual rank stands for a device, with its thread or its
// process.
#include "one_process.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/clock.h"
#include "dist/dist.h"
#include "dist/parallel/data_parallel.h"

#include "story.h"

namespace one_process {
namespace {

namespace nn = dist::nn;
using dist::DType, dist::Tensor;
using story::say;

// ------------------------------------------------------------------------------------- section 6: gradients

// y = w x, so the gradient of the mean of all y is the mean of all x.
std::unique_ptr<nn::Module> one_weight() {
  auto model = std::make_unique<nn::Linear>(1, 1, nn::LinearOptions{.bias = false});
  model->to(DType::f64);
  return model;
}

// Runs the samples first, first + 1, ..., last through the model, with the mean of its outputs as the loss.
void forward_and_backward(nn::Module& model, int first, int last) {
  const std::int64_t count = last - first + 1;
  const Tensor samples = dist::arange(count, DType::f64) + dist::full({count}, first, DType::f64);
  const Tensor outputs = model.forward(samples.view({count, 1}));
  model.backward(dist::full(outputs.shape(), 1.0 / static_cast<double>(count), DType::f64));
}

std::string gradient_of(nn::Module& model) {
  return fmt::format("{:.4g}", model.parameters().front()->grad.item<double>());
}

constexpr int devices = 4;

void ddp_on(int rank) {
  dist::init_process_group();
  const auto model = one_weight();
  dist::DistributedDataParallel ddp(*model);
  forward_and_backward(ddp, 3 * rank + 1, std::min(3 * rank + 3, 10));
  if (rank == 0)
    say(fmt::format("   DDP, four processes, 3 + 3 + 3 + 1 samples         {}", gradient_of(*model)));
  dist::destroy_process_group();
}

// ----------------------------------------------------------------------------------------- section 7: times

constexpr int layers = 8;
constexpr std::int64_t weights = 250'000, samples = 64, outputs = 10'000;  // weights of a layer; all f32
// What one device takes for the whole batch: a layer forward, a layer backward, the loss with its gradient.
constexpr double forward_s = 0.5e-3, backward_s = 1e-3, loss_s = 0.4e-3;
// Python starts the kernels of a layer in this time; the device computes meanwhile.
constexpr double interpreter_s = 60e-6;

double of_batch(double whole_s) { return whole_s / dist::get_world_size(); }

// A layer that only takes time.
class Layer final : public nn::Module {
 public:
  // `threads` of one process take turns in its interpreter.
  explicit Layer(int threads) : threads_(threads) {
    weight_.initialize(dist::zeros({weights}));
    register_parameter("weight", weight_);
  }

 private:
  Tensor run_forward(const Tensor& input) override {
    dist::sim::compute(std::max(of_batch(forward_s), threads_ * interpreter_s));
    return input;
  }
  Tensor run_backward(const Tensor& grad_output) override {
    dist::sim::compute(of_batch(backward_s));
    weight_.grad_is_ready();
    return grad_output;
  }

  const int threads_;
  nn::Parameter weight_;
};

void add_layers(nn::Sequential& model, int threads) {
  for (int i = 0; i < layers; ++i) model.add<Layer>(threads);
}

class Stopwatch {
 public:
  // Seconds since it was made or last asked.
  double lap() {
    const auto now = dist::Clock::now();
    const auto passed = now - std::exchange(begin_, now);
    return std::chrono::duration<double>(passed).count();
  }

 private:
  dist::Clock::time_point begin_ = dist::Clock::now();
};

// The stages of a step, in seconds.
struct Stages {
  double weights = 0, forward = 0, loss = 0, backward = 0, gradients = 0;
  double sum() const { return weights + forward + loss + backward + gradients; }
};

// What torch.nn.DataParallel does in each step. Device 0 has the model, the loss and the optimizer.
Stages data_parallel_step(bool takes_turns) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  nn::Sequential model;
  add_layers(model, takes_turns ? n : 1);
  Tensor values = dist::zeros({layers * weights}), gradients = dist::zeros_like(values);
  const Tensor part = dist::zeros({samples / n, outputs});
  std::vector<Tensor> parts;
  for (int i = 0; rank == 0 && i < n; ++i) parts.push_back(dist::zeros_like(part));

  Stages took;
  Stopwatch watch;
  dist::broadcast(values, 0);
  took.weights = watch.lap();
  const Tensor output = model.forward(part);
  took.forward = watch.lap();
  dist::gather(output, parts, 0);
  if (rank == 0) dist::sim::compute(loss_s);
  Tensor gradient = dist::zeros_like(part);
  dist::scatter(gradient, parts, 0);
  took.loss = watch.lap();
  model.backward(gradient);
  took.backward = watch.lap();
  dist::reduce(gradients, 0);
  took.gradients = watch.lap();
  return took;
}

// A step of DDP. Before it comes another one, in which DDP learns the order of the gradients.
double ddp_step() {
  nn::Sequential model;
  add_layers(model, 1);
  dist::DistributedDataParallel ddp(model, {.bucket_bytes = std::size_t{1} << 20});
  const Tensor part = dist::zeros({samples / dist::get_world_size(), outputs});
  double took = 0;
  for (int step = 0; step < 2; ++step) {
    dist::barrier();
    Stopwatch watch;
    const Tensor output = ddp.forward(part);
    dist::sim::compute(of_batch(loss_s));
    ddp.backward(output);
    took = watch.lap();
  }
  return took;
}

// What `step` returns on rank 0, when a rank per device has run it.
template <class Step>
auto on_devices(int n, const Step& step) {
  decltype(step()) of_first{};
  story::simulate(n, "laptop", [&] {
    const auto result = step();
    if (dist::get_rank() == 0) of_first = result;
  });
  return of_first;
}

}  // namespace

void show_gradients() {
  const auto alone = one_weight();
  forward_and_backward(*alone, 1, 10);
  say(fmt::format("   one process, one model                             {}", gradient_of(*alone)));
  dist::DataParallel threads(one_weight, devices);
  forward_and_backward(threads, 1, 10);
  say(fmt::format("   DataParallel, four threads, 2 + 3 + 2 + 3 samples  {}", gradient_of(threads.module())));
  dist::spawn(devices, ddp_on);
}

void show_times() {
  say("               DataParallel   the same in Python          DDP");
  for (const int n : {1, 2, 4, 8}) {
    const double threads = on_devices(n, [] { return data_parallel_step(false); }).sum();
    const double in_python = on_devices(n, [] { return data_parallel_step(true); }).sum();
    say(fmt::format("   {} {:<7} {:>11.1f} ms {:>17.1f} ms {:>9.1f} ms", n, n == 1 ? "device" : "devices",
                    1e3 * threads, 1e3 * in_python, 1e3 * on_devices(n, ddp_step)));
  }
  const Stages took = on_devices(8, [] { return data_parallel_step(false); });
  const double turns = on_devices(8, [] { return data_parallel_step(true); }).forward;
  say("   The stages of DataParallel on 8 devices:");
  say(fmt::format("      weights to all devices            {:.1f} ms", 1e3 * took.weights));
  say(fmt::format("      forward                           {:.1f} ms; in Python {:.1f} ms",
                  1e3 * took.forward, 1e3 * turns));
  say(fmt::format("      outputs to device 0, loss, back   {:.1f} ms", 1e3 * took.loss));
  say(fmt::format("      backward                          {:.1f} ms", 1e3 * took.backward));
  say(fmt::format("      gradients to device 0             {:.1f} ms", 1e3 * took.gradients));
}

}  // namespace one_process
