#include "dist/nn/parameter.h"

#include <algorithm>

namespace dist::nn {

void Parameter::listen(std::string_view role, const void* owner, std::function<void()> f) {
  const auto at = std::ranges::find(listeners_, role, &Listener::role);
  if (at == listeners_.end())
    listeners_.push_back({std::string(role), owner, std::move(f)});
  else
    *at = {std::string(role), owner, std::move(f)};
}

void Parameter::stop_listening(std::string_view role, const void* owner) {
  std::erase_if(listeners_, [&](const Listener& l) { return l.role == role && l.owner == owner; });
}

const void* Parameter::listener(std::string_view role) const {
  const auto at = std::ranges::find(listeners_, role, &Listener::role);
  return at == listeners_.end() ? nullptr : at->owner;
}

}  // namespace dist::nn
