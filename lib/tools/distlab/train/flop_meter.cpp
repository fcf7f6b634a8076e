#include "distlab/train/flop_meter.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <future>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "dist/group/process_group.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/module_hook.h"
#include "dist/nn/ops.h"

#include "distlab/train/devices.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

// Adds up the products of a layer that multiplies each output channel's weights: its forward, the gradient of
// its weight, and that of its input, if it is wanted.
class ProductCount final : public nn::ModuleHook {
 public:
  ProductCount(std::int64_t of_an_output, double& sum) : of_an_output_(of_an_output), sum_(sum) {}
  dist::Tensor after_forward(nn::Module& module, const dist::Tensor& output) override {
    sum_ += (module.wants_input_grad() ? 3 : 2) * 2. * static_cast<double>(output.numel() * of_an_output_);
    return output;
  }

 private:
  const std::int64_t of_an_output_;
  double& sum_;
};

// FLOP/s of products of square matrices on a device.
double matmul_flops(dist::Device device, dist::DType dtype) {
  const std::int64_t n = device == dist::cpu ? 512 : 4096;
  dist::Tensor a = dist::zeros({n, n}, dtype, device), b = a.clone(), out = a.clone();
  a.fill_(0.5), b.fill_(0.5);
  const auto multiply = [&] {
    nn::ops_for(device).matmul(out, {a}, {b}, false);
    (void)out[0][0].to(dist::cpu);  // waits for a GPU
  };
  multiply();  // sets up the library
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double products = 0;
  std::chrono::duration<double> taken{};
  while (taken.count() < 1. / 3) {
    multiply();
    ++products;
    taken = Clock::now() - begin;
  }
  return products * 2 * std::pow(static_cast<double>(n), 3) / taken.count();
}

}  // namespace

std::string FlopMeter::text(double items_per_s) const {
  constexpr std::array units{"M", "G", "T", "P"};
  std::size_t unit = 0;
  double shown = per_second(items_per_s) / 1e6;
  for (; shown >= 999.5 && unit + 1 < units.size(); ++unit) shown /= 1000;
  std::string text = fmt::format("{:.3g} {}FLOP/s", shown, units[unit]);
  if (!std::isnan(peak_)) text += fmt::format(", MFU {:.1f} %", 100 * mfu(items_per_s));
  return text;
}

double training_flops_per_image() {
  nn::ConvNet model;
  model.skip_input_grad();
  double sum = 0;
  for (nn::Module* const layer : model.modules())
    for (const auto& [name, parameter] : layer->named_parameters())
      if (name == "weight" && parameter->value.dim() > 1)
        layer->add_hook(
            std::make_shared<ProductCount>(parameter->value.numel() / parameter->value.size(0), sum));
  model.forward(dist::zeros({1, 1, 28, 28}));
  return sum;
}

double peak_of_all(const TrainOptions& options, const std::vector<dist::Device>& devices, dist::DType dtype) {
  if (options.peak_flops.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (options.peak_flops != matmul_peak)
    return std::atof(options.peak_flops.c_str()) * static_cast<double>(devices.size()) *
           dist::get_world_size();
  dist::barrier();
  std::vector<std::future<double>> measured;
  for (const dist::Device device : devices)
    measured.push_back(std::async(std::launch::async, matmul_flops, device, dtype));
  double mine = 0;
  for (auto& each : measured) mine += each.get();
  return summed({mine}, devices.front())[0];
}

}  // namespace distlab
