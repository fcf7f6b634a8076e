// Where each action of a schedule is, for check.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "dist/parallel/pipeline/schedule.h"

namespace dist::pipeline {

struct Place {
  std::size_t rank = 0, index = 0;
  bool operator==(const Place&) const = default;
};

class Places {
 public:
  explicit Places(const Shape& shape)
      : shape_(shape),
        places_(static_cast<std::size_t>(action_kinds) * static_cast<std::size_t>(shape.stages()) *
                static_cast<std::size_t>(shape.micro_batches)) {}

  // Both take an action that the shape has. Empty if no list has it.
  std::optional<Place>& of(const Action& action) { return places_[number(action)]; }
  const std::optional<Place>& of(const Action& action) const { return places_[number(action)]; }

 private:
  std::size_t number(const Action& action) const {
    const auto kind = static_cast<std::size_t>(action.kind), stage = static_cast<std::size_t>(action.stage);
    return (kind * static_cast<std::size_t>(shape_.stages()) + stage) *
               static_cast<std::size_t>(shape_.micro_batches) +
           static_cast<std::size_t>(action.micro_batch);
  }
  Shape shape_;
  std::vector<std::optional<Place>> places_;
};

// The other end of a message.
constexpr Action partner(const Action& message) {
  const auto [kind, stage, j] = message;
  switch (kind) {
    case ActionKind::send_activation: return {ActionKind::receive_activation, stage + 1, j};
    case ActionKind::receive_activation: return {ActionKind::send_activation, stage - 1, j};
    case ActionKind::send_gradient: return {ActionKind::receive_gradient, stage - 1, j};
    case ActionKind::receive_gradient: return {ActionKind::send_gradient, stage + 1, j};
    case ActionKind::forward:
    case ActionKind::backward:
    case ActionKind::backward_input:
    case ActionKind::backward_weight: break;
  }
  return message;
}

// Runs the lists without data (check.h, point 4). Returns the sentence about a cycle, or an empty string.
// Every message has its partner.
std::string find_circle(const Schedule& schedule, const Places& places, bool one_by_one);

}  // namespace dist::pipeline
