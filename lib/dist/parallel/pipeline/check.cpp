// In the order of check.h: existence, order on each rank, queues; cycles are in find_circle.cpp.
#include "dist/parallel/pipeline/check.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/parallel/pipeline/places.h"

namespace dist::pipeline {
namespace {

class Checker {
 public:
  explicit Checker(const Schedule& schedule)
      : schedule_(schedule), shape_(schedule.shape), places_(schedule.shape) {}

  // Each returns the sentence, or an empty string.
  std::string wrong_places() {
    if (schedule_.ranks.size() != static_cast<std::size_t>(shape_.ranks))
      return fmt::format("the schedule has {} for {}", counted(schedule_.ranks.size(), "list"),
                         counted(shape_.ranks, "rank"));
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank)
      for (std::size_t i = 0; i < schedule_.ranks[rank].size(); ++i)
        if (auto wrong = wrong_place(schedule_.ranks[rank][i], {rank, i}); !wrong.empty()) return wrong;
    return {};
  }

  std::string missing() const {
    return for_each_piece([&](int stage, int j) -> std::string {
      const bool splits = places_.of({ActionKind::backward_input, stage, j}) ||
                          places_.of({ActionKind::backward_weight, stage, j});
      std::vector<ActionKind> kinds{ActionKind::forward};
      if (splits) kinds.push_back(ActionKind::backward_input), kinds.push_back(ActionKind::backward_weight);
      if (!splits) kinds.push_back(ActionKind::backward);
      if (shape_.are_apart(stage, stage + 1))
        kinds.push_back(ActionKind::send_activation), kinds.push_back(ActionKind::receive_gradient);
      if (shape_.are_apart(stage, stage - 1))
        kinds.push_back(ActionKind::receive_activation), kinds.push_back(ActionKind::send_gradient);
      for (const ActionKind kind : kinds)
        if (const Action action{kind, stage, j}; !places_.of(action))
          return fmt::format("rank {}: {} is missing", shape_.rank_of(stage), text(action));
      return {};
    });
  }

  std::string wrong_order() const {
    return for_each_piece([&](int stage, int j) -> std::string {
      for (const ActionKind kind : all_kinds)
        for (const ActionKind needed : needs_of(kind))
          if (auto wrong = not_before({needed, stage, j}, {kind, stage, j}); !wrong.empty()) return wrong;
      // Neighbouring stages on the same rank need no messages.
      if (stage + 1 == shape_.stages() || shape_.are_apart(stage, stage + 1)) return {};
      auto wrong = not_before({ActionKind::forward, stage, j}, {ActionKind::forward, stage + 1, j});
      for (const ActionKind first : backwards)
        for (const ActionKind second : backwards)
          if (wrong.empty()) wrong = not_before({first, stage + 1, j}, {second, stage, j});
      return wrong;
    });
  }

  std::string wrong_queues() const {
    for (int stage = 0; stage < shape_.stages(); ++stage) {
      const auto forwards = micro_batches(stage, [](ActionKind kind) { return kind == ActionKind::forward; });
      const auto weights = [](ActionKind kind) {
        return kind == ActionKind::backward || kind == ActionKind::backward_weight;
      };
      for (const auto& used : {micro_batches(stage, is_backward), micro_batches(stage, weights)})
        for (std::size_t i = 0; i < used.size(); ++i)
          if (used[i] != forwards[i])
            return fmt::format(
                "rank {}: on stage {} backward of micro-batch {} comes before that of micro-batch {}, whose "
                "forward came first; layers keep what backward needs in a queue",
                shape_.rank_of(stage), stage, used[i], forwards[i]);
    }
    return wrong_channels();
  }

  std::string circle(Messages messages) const {
    return find_circle(schedule_, places_, messages == Messages::one_by_one);
  }

 private:
  static constexpr std::array all_kinds{ActionKind::forward,         ActionKind::backward,
                                        ActionKind::backward_input,  ActionKind::backward_weight,
                                        ActionKind::send_activation, ActionKind::receive_activation,
                                        ActionKind::send_gradient,   ActionKind::receive_gradient};
  static constexpr std::array backwards{ActionKind::backward, ActionKind::backward_input};
  static_assert(all_kinds.size() == action_kinds);

  // What an action needs on its own rank and stage, as far as the schedule has it.
  static std::vector<ActionKind> needs_of(ActionKind kind) {
    switch (kind) {
      case ActionKind::forward: return {ActionKind::receive_activation};
      case ActionKind::backward:
      case ActionKind::backward_input: return {ActionKind::forward, ActionKind::receive_gradient};
      case ActionKind::backward_weight: return {ActionKind::backward_input};
      case ActionKind::send_activation: return {ActionKind::forward};
      case ActionKind::send_gradient: return {ActionKind::backward, ActionKind::backward_input};
      case ActionKind::receive_activation:
      case ActionKind::receive_gradient: return {};
    }
    __builtin_unreachable();
  }

  std::string wrong_place(const Action& action, Place here) {
    const auto [rank, i] = here;
    if (!shape_.has(action) || (is_message(action.kind) && !shape_.has(partner(action))))
      return fmt::format(
          "rank {}: {} (#{}) is impossible: there are stages 0 to {} and micro-batches 0 to {}", rank,
          text(action), i, shape_.stages() - 1, shape_.micro_batches - 1);
    if (shape_.rank_of(action.stage) != static_cast<int>(rank))
      return fmt::format("rank {}: {} (#{}) is on the wrong rank: stage {} is on rank {}", rank, text(action),
                         i, action.stage, shape_.rank_of(action.stage));
    if (is_message(action.kind) && !shape_.are_apart(action.stage, partner(action).stage))
      return fmt::format("rank {}: {} (#{}) needs no message: both stages are on this rank", rank,
                         text(action), i);
    if (auto& place = places_.of(action); place)
      return fmt::format("rank {}: {} comes twice (#{} and #{})", rank, text(action), place->index, i);
    places_.of(action) = here;
    const auto whole = places_.of({ActionKind::backward, action.stage, action.micro_batch});
    for (const ActionKind part : {ActionKind::backward_input, ActionKind::backward_weight})
      if (const Action other{part, action.stage, action.micro_batch}; whole && places_.of(other))
        return fmt::format("rank {}: micro-batch {} on stage {} has two backwards: whole (#{}) and {} (#{})",
                           rank, action.micro_batch, action.stage, whole->index,
                           part == ActionKind::backward_input ? "input" : "weight", places_.of(other)->index);
    return {};
  }

  // The sentence if both are in a list, on one rank, and `needed` is not the earlier one.
  std::string not_before(const Action& needed, const Action& action) const {
    const auto &first = places_.of(needed), &second = places_.of(action);
    if (!first || !second || first->index < second->index) return {};
    if (is_receive(needed.kind))
      return fmt::format("rank {}: {} (#{}) comes too late: {} (#{}) needs it", first->rank, text(needed),
                         first->index, text(action), second->index);
    return fmt::format("rank {}: {} (#{}) comes before {} (#{}), which it needs", first->rank, text(action),
                       second->index, text(needed), first->index);
  }

  // The micro-batches of a stage's actions, in the order of its rank's list.
  template <class Wanted>
  std::vector<int> micro_batches(int stage, Wanted wanted) const {
    std::vector<int> order;
    for (const Action& action : schedule_.ranks[static_cast<std::size_t>(shape_.rank_of(stage))])
      if (action.stage == stage && wanted(action.kind)) order.push_back(action.micro_batch);
    return order;
  }

  // From each rank to each other one: what it sends, and what that one receives, in order.
  std::string wrong_channels() const {
    std::map<std::pair<int, int>, std::pair<std::vector<Action>, std::vector<Action>>> channels;
    for (const auto& actions : schedule_.ranks)
      for (const Action& action : actions) {
        if (!is_message(action.kind)) continue;
        const int here = shape_.rank_of(action.stage), there = shape_.rank_of(partner(action).stage);
        if (is_receive(action.kind))
          channels[{there, here}].second.push_back(partner(action));
        else
          channels[{here, there}].first.push_back(action);
      }
    for (const auto& [ends, orders] : channels)
      for (std::size_t i = 0; i < orders.first.size(); ++i)
        if (orders.first[i] != orders.second[i])
          return fmt::format(
              "rank {} receives messages from rank {} in another order than they are sent: first {}, first "
              "{}",
              ends.second, ends.first, text(partner(orders.second[i])), text(orders.first[i]));
    return {};
  }

  template <class F>
  std::string for_each_piece(F&& wrong) const {
    for (int stage = 0; stage < shape_.stages(); ++stage)
      for (int j = 0; j < shape_.micro_batches; ++j)
        if (auto sentence = wrong(stage, j); !sentence.empty()) return sentence;
    return {};
  }

  const Schedule& schedule_;
  const Shape& shape_;
  Places places_;
};

}  // namespace

std::string check(const Schedule& schedule, Messages messages) {
  Checker checker(schedule);
  auto wrong = checker.wrong_places();
  if (wrong.empty()) wrong = checker.missing();
  if (wrong.empty()) wrong = checker.wrong_order();
  if (wrong.empty()) wrong = checker.wrong_queues();
  if (wrong.empty()) wrong = checker.circle(messages);
  return wrong;
}

}  // namespace dist::pipeline
