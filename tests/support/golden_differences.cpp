#include "support/golden_differences.h"

#include <cmath>

#include <fmt/format.h>

#include "dist/nn/cross_entropy.h"

namespace dist::test {
namespace {

class Differences {
 public:
  void compare(const std::string& what, double got, double golden, double tolerance) {
    if (std::abs(got - golden) > tolerance)
      lines.push_back(fmt::format("{}: {} instead of {}", what, got, golden));
  }
  std::vector<std::string> lines;
};

}  // namespace

std::vector<std::string> golden_differences(const GoldenRun& run, int rank, const Wrapped& wrapped,
                                            Device device) {
  const GoldenRank& golden = run.ranks.at(static_cast<std::size_t>(rank));
  const auto model = golden_model(run);
  model->to(device);
  const auto trained = wrapped(*model);
  const auto optimizer = golden_optimizer(run, *model);
  nn::CrossEntropyLoss loss;
  Differences found;
  const auto relative = [](double to, double tolerance) { return tolerance * std::abs(to); };
  for (int step = 0; step < run.steps; ++step) {
    const GoldenBatch batch = golden_batch(run, rank, step);
    const double value = loss.forward(trained->forward(batch.input.to(device)), batch.targets);
    const double expected = golden.losses.at(static_cast<std::size_t>(step));
    found.compare(fmt::format("loss {}", step), value, expected, relative(expected, run.loss_tolerance()));
    optimizer->zero_grad();
    (void)trained->backward(loss.backward());
    const auto parameters = model->named_parameters();
    for (std::size_t k = 0; step == 0 && k < parameters.size(); ++k) {
      const double norm = golden.first_step_grad_l2.at(k);
      found.compare("first gradient of " + parameters[k].name, l2_norm(parameters[k].parameter->grad), norm,
                    is_taken_off(parameters[k].name) ? 1e-5 : relative(norm, run.norm_tolerance()));
    }
    optimizer->step();
  }
  const auto parameters = model->named_parameters();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Tensor& value = parameters[k].parameter->value;
    found.compare("final " + parameters[k].name, l2_norm(value), golden.final_param_l2.at(k),
                  relative(golden.final_param_l2.at(k), run.norm_tolerance()));
    // The terms of a sum may cancel out, so its error is measured by the size of the terms (the bound is that
    // of Cauchy and Schwarz).
    found.compare(
        "sum of " + parameters[k].name, sum(value), golden.final_param_sum.at(k),
        run.norm_tolerance() * golden.final_param_l2.at(k) * std::sqrt(static_cast<double>(value.numel())));
  }
  for (const auto& [name, buffer] : model->named_buffers())
    found.compare(name, l2_norm(buffer->value), golden.buffers_l2.at(name),
                  relative(golden.buffers_l2.at(name), run.norm_tolerance()));
  return found.lines;
}

}  // namespace dist::test
