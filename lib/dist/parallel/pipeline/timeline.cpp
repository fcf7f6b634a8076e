#include "dist/parallel/pipeline/timeline.h"

#include <algorithm>
#include <optional>

#include "dist/core/fail.h"

namespace dist::pipeline {

double StageTimes::of(ActionKind kind) const {
  switch (kind) {
    case ActionKind::forward: return forward;
    case ActionKind::backward: return backward_input + backward_weight;
    case ActionKind::backward_input: return backward_input;
    case ActionKind::backward_weight: return backward_weight;
    case ActionKind::send_activation:
    case ActionKind::receive_activation:
    case ActionKind::send_gradient:
    case ActionKind::receive_gradient: return 0;
  }
  __builtin_unreachable();
}

const StageTimes& Times::of(int stage) const {
  return stages[stages.size() == 1 ? 0 : static_cast<std::size_t>(stage)];
}

namespace {

// The moments at which results are ready on their own rank.
class Results {
 public:
  explicit Results(const Shape& shape) : shape_(shape), forward_(size()), backward_(size()) {}

  // A weight gradient is a result that no computation needs.
  void add(const Action& action, double end) {
    if (action.kind == ActionKind::forward) forward_[index(action.stage, action.micro_batch)] = end;
    if (is_backward(action.kind)) backward_[index(action.stage, action.micro_batch)] = end;
  }

  // When all that `action` needs is on its rank; nothing if a part of it is not yet computed.
  std::optional<double> ready(const Action& action, double latency) const {
    const auto [kind, stage, j] = action;
    if (kind == ActionKind::forward) return stage == 0 ? 0 : arrival(forward_, stage - 1, stage, j, latency);
    if (kind == ActionKind::backward_weight) return backward_[index(stage, j)];
    const auto kept = forward_[index(stage, j)];
    if (stage == shape_.stages() - 1 || !kept) return kept;
    return arrival(backward_, stage + 1, stage, j, latency);  // later than its own forward
  }

 private:
  using Moments = std::vector<std::optional<double>>;
  std::size_t size() const { return index(shape_.stages(), 0); }
  std::size_t index(int stage, int j) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(shape_.micro_batches) +
           static_cast<std::size_t>(j);
  }
  std::optional<double> arrival(const Moments& made, int from, int to, int j, double latency) const {
    auto moment = made[index(from, j)];
    if (moment && shape_.are_apart(from, to)) *moment += latency;
    return moment;
  }

  Shape shape_;
  Moments forward_, backward_;
};

}  // namespace

Timeline run(const Schedule& schedule, const Times& times) {
  const Shape& shape = schedule.shape;
  if (times.stages.size() != 1 && times.stages.size() != static_cast<std::size_t>(shape.stages()))
    fail(Errc::invalid_argument,
         "times of {} stages for a pipeline of {}; give one per stage, or one for all", times.stages.size(),
         shape.stages());
  Timeline timeline{std::vector<std::vector<TimedAction>>(schedule.ranks.size()), 0, 0};
  Results results(shape);
  std::vector<std::size_t> next(schedule.ranks.size());
  double busy = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t rank = 0; rank < next.size(); ++rank) {
      auto& done = timeline.ranks[rank];
      for (; next[rank] < schedule.ranks[rank].size(); ++next[rank], progress = true) {
        const Action& action = schedule.ranks[rank][next[rank]];
        if (is_message(action.kind)) continue;
        if (!shape.has(action)) fail(Errc::invalid_argument, "there is no {}", text(action));
        const auto ready = results.ready(action, times.latency);
        if (!ready) break;
        const double begin = done.empty() ? *ready : std::max(*ready, done.back().end);
        const double duration = times.of(action.stage).of(action.kind);
        done.push_back({action, begin, begin + duration});
        results.add(action, begin + duration);
        busy += duration;
        timeline.total = std::max(timeline.total, begin + duration);
      }
    }
  }
  for (std::size_t rank = 0; rank < next.size(); ++rank)
    if (next[rank] < schedule.ranks[rank].size())
      fail(Errc::invalid_argument, "rank {} never gets what it needs for {}", rank,
           text(schedule.ranks[rank][next[rank]]));
  const double all = timeline.total * shape.ranks;
  if (all > 0) timeline.bubble = (all - busy) / all;
  return timeline;
}

}  // namespace dist::pipeline
