#include "dist/nn/parameter.h"

#include <algorithm>

namespace dist::nn {

void Parameter::requires_grad(bool on) {
  requires_grad_ = on;
  if (!on)
    grad = {};
  else if (!grad.is_defined() && value.is_defined())
    grad = zeros_like(value);
}

void Parameter::listen(Event event, std::string_view role, const void* owner, std::function<void()> f) {
  const auto at =
      std::ranges::find_if(listeners_, [&](const Listener& l) { return l.event == event && l.role == role; });
  if (at == listeners_.end())
    listeners_.push_back({event, std::string(role), owner, std::move(f)});
  else
    *at = {event, std::string(role), owner, std::move(f)};
}

void Parameter::stop_listening(std::string_view role, const void* owner) {
  std::erase_if(listeners_, [&](const Listener& l) { return l.role == role && l.owner == owner; });
}

const void* Parameter::listener(std::string_view role) const {
  const auto at = std::ranges::find(listeners_, role, &Listener::role);
  return at == listeners_.end() ? nullptr : at->owner;
}

}  // namespace dist::nn
