#include "dist/nn/adam.h"

#include <cmath>
#include <utility>

#include "dist/nn/ops.h"

namespace dist::nn {

Adam::Adam(std::vector<Parameter*> parameters, AdamOptions options)
    : Optimizer("Adam", std::move(parameters), options.lr), options_(options) {
  for (const double beta : options.betas) check_option(beta >= 0 && beta < 1, "beta", beta);
  check_option(options.eps >= 0, "eps", options.eps);
  check_option(options.weight_decay >= 0, "weight_decay", options.weight_decay);
}

StateDict Adam::initial_state() const {
  StateDict state{{"step", zeros({}, DType::i64, cpu)}};
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    state.push_back({std::to_string(i) + ".exp_avg", zeros_like(parameters()[i]->value)});
    state.push_back({std::to_string(i) + ".exp_avg_sq", zeros_like(parameters()[i]->value)});
  }
  return state;
}

void Adam::step_on(StateDict& state) {
  const auto t = static_cast<double>(++state[0].tensor.data<std::int64_t>()[0]);
  const auto [beta1, beta2] = options_.betas;
  const AdamStep step{.lr = lr(),
                      .beta1 = beta1,
                      .beta2 = beta2,
                      .eps = options_.eps,
                      .weight_decay = options_.weight_decay,
                      .correction1 = 1 - std::pow(beta1, t),
                      .correction2 = 1 - std::pow(beta2, t)};
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    const Parameter& parameter = *parameters()[i];
    ops_for(parameter.value.device())
        .adam(parameter.value, parameter.grad, state[1 + 2 * i].tensor, state[2 + 2 * i].tensor, step);
  }
}

}  // namespace dist::nn
