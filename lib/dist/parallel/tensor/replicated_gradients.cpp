#include "dist/parallel/tensor/replicated_gradients.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "dist/group/diagnosis/compare_copies.h"

namespace dist {

namespace {

struct Replicated {
  std::vector<nn::NamedParameter> parameters;  // in the model's order
  TensorLine line;

  bool has(const nn::Parameter* parameter) const {
    return std::ranges::find(parameters, parameter, &nn::NamedParameter::parameter) != parameters.end();
  }
  void compare(const std::vector<nn::Parameter*>& stepping, CallSite where) const {
    check::Copies copies{.code = check::Code::unreduced_gradient, .axis = line.axis, .where = where};
    for (const auto& [name, parameter] : parameters) {
      if (std::ranges::find(stepping, parameter) == stepping.end()) continue;
      copies.names.push_back("the gradient of " + name);
      copies.sketches.push_back(check::sketch_of(parameter->grad));
    }
    compare_copies(line.group, std::move(copies));
  }
};

}  // namespace

// Every parameter is checked, and the first one of the optimizer's compares all.
void compare_before_step(const std::vector<nn::NamedParameter>& parameters, const TensorLine& line) {
  const auto all = std::make_shared<const Replicated>(Replicated{parameters, line});
  for (const auto& [name, parameter] : parameters)
    parameter->before_step([all, parameter](const std::vector<nn::Parameter*>& stepping, CallSite where) {
      if (!compares_copies(all->line.group)) return;
      const auto first = std::ranges::find_if(stepping, [&](const auto* each) { return all->has(each); });
      if (*first == parameter) all->compare(stepping, where);
    });
}

}  // namespace dist
