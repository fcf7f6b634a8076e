#include "dist/nn/adam.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
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

StateDict Adam::common_state() const { return {{"step", zeros({}, DType::i64, cpu)}}; }

std::vector<std::string> Adam::state_names() const { return {"exp_avg", "exp_avg_sq"}; }

void Adam::add_own_step(std::size_t i, bool late, StateDict& state) const {
  if (find(state, own_step(i))) return;
  state.push_back({own_step(i), full({}, late ? 0 : state[0].tensor.item<std::int64_t>(), DType::i64, cpu)});
}

// By parameter; they come last in the state. Undefined where a parameter has taken as many as the others.
std::vector<Tensor> Adam::own_steps(const StateDict& state) const {
  constexpr std::string_view prefix = "step.";
  std::vector<Tensor> own(parameters().size());
  for (std::size_t at = state.size(); at-- > 0 && state[at].name.starts_with(prefix);)
    own.at(static_cast<std::size_t>(std::stoul(state[at].name.substr(prefix.size())))) = state[at].tensor;
  return own;
}

// Parameters that have taken equally many steps are updated together: usually all.
void Adam::step_on(StateDict& state) {
  const std::int64_t steps = ++state[0].tensor.data<std::int64_t>()[0];
  const std::vector<Tensor> own_of = own_steps(state);
  std::map<std::int64_t, std::vector<AdamItem>> lists;
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    Tensor own = own_of[i];
    if (!is_trained(i)) {
      if (has_state(i) && !own.is_defined())
        state.push_back({own_step(i), full({}, steps - 1, DType::i64, cpu)});
      continue;
    }
    const std::size_t at = first_entry(i);
    lists[own.is_defined() ? ++own.data<std::int64_t>()[0] : steps].push_back(
        {weight(i), parameters()[i]->grad, state[at].tensor, state[at + 1].tensor, lr_of(i),
         weight_decay_of(i), rounded(i)});
  }
  const auto [beta1, beta2] = options_.betas;
  for (const auto& [t, list] : lists) {
    const AdamStep step{.beta1 = beta1,
                        .beta2 = beta2,
                        .eps = options_.eps,
                        .correction1 = 1 - std::pow(beta1, static_cast<double>(t)),
                        .correction2 = 1 - std::pow(beta2, static_cast<double>(t)),
                        .decoupled = decoupled_};
    for_each_run(std::span<const AdamItem>(list),
                 [&step](const Ops& ops, std::span<const AdamItem> run) { ops.adam(run, step); });
  }
}

}  // namespace dist::nn
