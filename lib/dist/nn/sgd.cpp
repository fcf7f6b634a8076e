#include "dist/nn/sgd.h"

#include <array>
#include <utility>

#include "dist/nn/runs.h"

namespace dist::nn {

SGD::SGD(std::vector<Parameter*> parameters, SGDOptions options)
    : SGD(std::array{ParameterGroup{std::move(parameters)}}, options) {}

SGD::SGD(std::span<const ParameterGroup> groups, SGDOptions options)
    : Optimizer("SGD", groups, options.lr, options.weight_decay, options.master_weights), options_(options) {
  check_option(options.momentum >= 0, "momentum", options.momentum);
}

std::vector<std::string> SGD::state_names() const {
  if (options_.momentum == 0) return {};
  return {"momentum_buffer"};
}

void SGD::step_on(StateDict& state) {
  std::vector<SgdItem> list;
  for (std::size_t i = 0; i < parameters().size(); ++i)
    if (is_trained(i))
      list.push_back({weight(i), parameters()[i]->grad,
                      options_.momentum == 0 ? Tensor() : state[first_entry(i)].tensor, lr_of(i),
                      weight_decay_of(i), rounded(i)});
  for_each_run(std::span<const SgdItem>(list),
               [this](const Ops& ops, std::span<const SgdItem> run) { ops.sgd(run, options_.momentum); });
}

}  // namespace dist::nn
