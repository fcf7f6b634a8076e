#include "dist/nn/adam.h"

#include <cmath>
#include <utility>

#include "dist/nn/runs.h"

namespace dist::nn {

namespace {

AdamOptions adam_options(const AdamWOptions& o) {
  return {o.lr, o.betas, o.eps, o.weight_decay, o.master_weights};
}

}  // namespace

Adam::Adam(std::string name, std::span<const ParameterGroup> groups, AdamOptions options, bool decoupled)
    : Optimizer(std::move(name), groups, options.lr, options.weight_decay, options.master_weights),
      options_(options),
      decoupled_(decoupled) {
  for (const double beta : options.betas) check_option(beta >= 0 && beta < 1, "beta", beta);
  check_option(options.eps >= 0, "eps", options.eps);
}

Adam::Adam(std::span<const ParameterGroup> groups, AdamOptions options)
    : Adam("Adam", groups, options, false) {}
Adam::Adam(std::vector<Parameter*> parameters, AdamOptions options)
    : Adam(std::array{ParameterGroup{std::move(parameters)}}, options) {}

AdamW::AdamW(std::span<const ParameterGroup> groups, AdamWOptions options)
    : Adam("AdamW", groups, adam_options(options), true) {}
AdamW::AdamW(std::vector<Parameter*> parameters, AdamWOptions options)
    : AdamW(std::array{ParameterGroup{std::move(parameters)}}, options) {}

StateDict Adam::initial_state() const {
  StateDict state{{"step", zeros({}, DType::i64, cpu)}};
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    state.push_back({std::to_string(i) + ".exp_avg", zeros_for(i)});
    state.push_back({std::to_string(i) + ".exp_avg_sq", zeros_for(i)});
  }
  return state;
}

void Adam::step_on(StateDict& state) {
  const auto t = static_cast<double>(++state[0].tensor.data<std::int64_t>()[0]);
  const auto [beta1, beta2] = options_.betas;
  const AdamStep step{.beta1 = beta1,
                      .beta2 = beta2,
                      .eps = options_.eps,
                      .correction1 = 1 - std::pow(beta1, t),
                      .correction2 = 1 - std::pow(beta2, t),
                      .decoupled = decoupled_};
  std::vector<AdamItem> list;
  for (std::size_t i = 0; i < parameters().size(); ++i)
    list.push_back({weight(i), parameters()[i]->grad, state[1 + 2 * i].tensor, state[2 + 2 * i].tensor,
                    lr_of(i), weight_decay_of(i), rounded(i)});
  for_each_run(std::span<const AdamItem>(list),
               [&step](const Ops& ops, std::span<const AdamItem> run) { ops.adam(run, step); });
}

}  // namespace dist::nn
