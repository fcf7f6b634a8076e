// Adds the messages to a schedule of computations.
#include <algorithm>
#include <iterator>
#include <optional>

#include "dist/parallel/pipeline/schedule.h"
#include "dist/parallel/pipeline/timeline.h"

namespace dist::pipeline {
namespace {

struct Message {
  Action send, receive;
};

// The message with the result of `computation`, if a stage on another rank needs it.
std::optional<Message> message_of(const Action& computation, const Shape& shape) {
  const auto [kind, stage, j] = computation;
  if (kind == ActionKind::forward && shape.are_apart(stage, stage + 1))
    return Message{{ActionKind::send_activation, stage, j}, {ActionKind::receive_activation, stage + 1, j}};
  if (is_backward(kind) && shape.are_apart(stage, stage - 1))
    return Message{{ActionKind::send_gradient, stage, j}, {ActionKind::receive_gradient, stage - 1, j}};
  return std::nullopt;
}

bool needs(const Action& computation, const Action& receive) {
  const bool is_activation = receive.kind == ActionKind::receive_activation;
  return computation.stage == receive.stage && computation.micro_batch == receive.micro_batch &&
         (is_activation ? computation.kind == ActionKind::forward : is_backward(computation.kind));
}

// The place in its rank's list before which `receive` is put.
std::size_t place_of(const Action& receive, const std::vector<TimedAction>& computations, double sent,
                     Receive when) {
  const auto place = std::ranges::find_if(computations, [&](const TimedAction& each) {
    return needs(each.action, receive) || (when == Receive::when_sent && each.begin >= sent);
  });
  return static_cast<std::size_t>(place - computations.begin());
}

}  // namespace

Schedule add_messages(const Schedule& computations, Receive receive) {
  const Shape& shape = computations.shape;
  const Timeline timeline = run(computations, {.stages = {{1, 1, 0}}, .latency = 0});
  // Per rank, the messages before each computation and after the last one: sends first, since of all lists
  // this order is the one that shows what blocking sends do.
  std::vector<std::vector<std::vector<Action>>> steps;
  for (const auto& rank : timeline.ranks) steps.emplace_back(rank.size() + 1);
  for (const bool sends : {true, false}) {
    for (std::size_t from = 0; from < timeline.ranks.size(); ++from) {
      for (std::size_t i = 0; i < timeline.ranks[from].size(); ++i) {
        const TimedAction& done = timeline.ranks[from][i];
        const auto message = message_of(done.action, shape);
        if (!message) continue;
        const auto to = static_cast<std::size_t>(shape.rank_of(message->receive.stage));
        if (sends)
          steps[from][i + 1].push_back(message->send);
        else
          steps[to][place_of(message->receive, timeline.ranks[to], done.end, receive)].push_back(
              message->receive);
      }
    }
  }
  Schedule schedule{shape, {}};
  for (std::size_t rank = 0; rank < steps.size(); ++rank) {
    auto& actions = schedule.ranks.emplace_back();
    for (std::size_t i = 0; i < steps[rank].size(); ++i) {
      std::ranges::copy(steps[rank][i], std::back_inserter(actions));
      if (i < computations.ranks[rank].size()) actions.push_back(computations.ranks[rank][i]);
    }
  }
  return schedule;
}

}  // namespace dist::pipeline
