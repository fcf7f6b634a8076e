#include "distlab/train/text/mesh_finite.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/group/process_group.h"

#include "distlab/train/finite.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

struct Found {
  int rank = 0;
  std::string text;  // empty: no rank has found anything
};

// The first rank's text that is not empty, the same on all ranks.
Found first_of(const std::string& mine) {
  const auto all = dist::all_gather_object(mine);
  const auto found = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
  if (found == all.end()) return {};
  return {static_cast<int>(found - all.begin()), *found};
}

// Ranks are in the order of the stages of a pipeline, and a rank's own stages come one round after the other.
Found first_layer(dist::HybridGpt& model, const dist::data::Batch& batch) {
  std::vector<std::shared_ptr<std::string>> of_stages;
  for (const auto& stage : model.stages()) of_stages.push_back(watch_outputs(*stage));
  (void)model.evaluate(batch.inputs, batch.targets);
  Found found;
  for (const auto& of_stage : of_stages)
    if (found.text.empty()) found = first_of(*of_stage);
  return found;
}

// The first parameter of this rank whose gradient is not finite, or nothing.
std::string first_gradient(const dist::HybridGpt& model) {
  for (const auto& stage : model.stages())
    for (const auto& [name, parameter] : stage->named_parameters()) {
      const dist::Tensor& grad = parameter->grad;
      if (parameter->requires_grad() && grad.numel() > 0 &&
          !std::isfinite(nn::squared_norm(std::span(&grad, 1)).item<double>()))
        return name;
    }
  return "";
}

}  // namespace

void expect_finite_on_mesh(double loss, std::int64_t step, double lr, dist::HybridGpt& model,
                           const dist::data::Batch& batch) {
  if (std::isfinite(loss)) return;
  const auto [rank, layer] = first_layer(model, batch);
  dist::fail(dist::Errc::invalid_argument, "the loss of step {} is {}; {}; try a smaller --lr than {}", step,
             std::abs(loss),
             layer.empty()
                 ? "the outputs of all layers are finite"
                 : fmt::format("the first layer whose output is not finite is {} on rank {}", layer, rank),
             lr);
}

double clip_finite_on_mesh(std::int64_t step, double lr, dist::HybridGpt& model, double max_norm) {
  try {
    return model.clip_grad_norm(max_norm, {.error_if_nonfinite = true});
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::invalid_argument) throw;  // such as the loss of a rank
  }
  const auto [rank, parameter] = first_of(first_gradient(model));
  dist::fail(dist::Errc::invalid_argument,
             "{} step {} is not finite, so the step is not taken; try a smaller --lr than {}",
             parameter.empty() ? "the norm of the gradient of"
                               : fmt::format("the gradient of {} on rank {} at", parameter, rank),
             step, lr);
}

}  // namespace distlab
