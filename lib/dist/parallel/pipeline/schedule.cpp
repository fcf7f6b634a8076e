#include "dist/parallel/pipeline/schedule.h"

#include <algorithm>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist::pipeline {

bool Shape::has(const Action& action) const {
  return action.stage >= 0 && action.stage < stages() && action.micro_batch >= 0 &&
         action.micro_batch < micro_batches;
}

bool Shape::are_apart(int stage, int neighbour) const {
  return std::min(stage, neighbour) >= 0 && std::max(stage, neighbour) < stages() &&
         rank_of(stage) != rank_of(neighbour);
}

std::string_view name(Kind kind) { return std::ranges::find(kind_names, kind, &KindName::kind)->name; }

Kind kind_named(std::string_view name) {
  const auto found = std::ranges::find(kind_names, name, &KindName::name);
  if (found == kind_names.end())
    fail(Errc::invalid_argument, "there is no schedule \"{}\"; take gpipe, 1f1b, interleaved or zb-h1", name);
  return found->kind;
}

namespace {

// One rank's computations, with one stage per rank.
class Computations {
 public:
  explicit Computations(int stage) : stage_(stage) {}
  void forward(int micro_batch) { add(ActionKind::forward, micro_batch); }
  void backward(int micro_batch) { add(ActionKind::backward, micro_batch); }
  void backward_input(int micro_batch) { add(ActionKind::backward_input, micro_batch); }
  void backward_weight(int micro_batch) { add(ActionKind::backward_weight, micro_batch); }
  std::vector<Action> list() && { return std::move(actions_); }

 private:
  void add(ActionKind kind, int micro_batch) { actions_.push_back({kind, stage_, micro_batch}); }
  int stage_;
  std::vector<Action> actions_;
};

template <class Write>
Schedule written(int ranks, int micro_batches, Write write) {
  Schedule schedule{{ranks, micro_batches, 1}, {}};
  for (int rank = 0; rank < ranks; ++rank) {
    Computations computations(rank);
    write(rank, computations);
    schedule.ranks.push_back(std::move(computations).list());
  }
  return schedule;
}

// How many forwards come before the first pair of one forward and one backward: as many as there are ranks
// behind this one.
int warm_up(int rank, int ranks, int micro_batches) { return std::min(micro_batches, ranks - 1 - rank); }

}  // namespace

Schedule gpipe(int ranks, int micro_batches) {
  return written(ranks, micro_batches, [&](int, Computations& run) {
    for (int j = 0; j < micro_batches; ++j) run.forward(j);
    for (int j = 0; j < micro_batches; ++j) run.backward(j);
  });
}

Schedule one_f_one_b(int ranks, int micro_batches) {
  return written(ranks, micro_batches, [&](int rank, Computations& run) {
    const int ahead = warm_up(rank, ranks, micro_batches);
    for (int j = 0; j < ahead; ++j) run.forward(j);
    for (int j = 0; j < micro_batches; ++j) {
      if (j + ahead < micro_batches) run.forward(j + ahead);
      run.backward(j);
    }
  });
}

Schedule zb_h1(int ranks, int micro_batches) {
  return written(ranks, micro_batches, [&](int rank, Computations& run) {
    const int ahead = warm_up(rank, ranks, micro_batches), delay = std::min(micro_batches, rank);
    for (int j = 0; j < ahead; ++j) run.forward(j);
    for (int j = 0; j < micro_batches; ++j) {
      if (j + ahead < micro_batches) run.forward(j + ahead);
      run.backward_input(j);
      if (j >= delay) run.backward_weight(j - delay);
    }
    for (int j = micro_batches - delay; j < micro_batches; ++j) run.backward_weight(j);
  });
}

Schedule make_schedule(Kind kind, const Shape& shape) {
  const auto [ranks, micro_batches, chunks] = shape;
  if (ranks < 1 || micro_batches < 1 || chunks < 1)
    fail(Errc::invalid_argument, "a pipeline of {}, {} and {}: each must be at least 1",
         counted(ranks, "rank"), counted(micro_batches, "micro-batch", "micro-batches"),
         counted(chunks, "chunk"));
  if (chunks > 1 && kind != Kind::interleaved)
    fail(Errc::invalid_argument, "schedule {} has one chunk per rank; for {} chunks take interleaved",
         name(kind), chunks);
  switch (kind) {
    case Kind::gpipe: return add_messages(gpipe(ranks, micro_batches), Receive::when_needed);
    case Kind::one_f_one_b: return add_messages(one_f_one_b(ranks, micro_batches), Receive::when_needed);
    case Kind::interleaved:
      return add_messages(interleaved(ranks, micro_batches, chunks), Receive::when_sent);
    case Kind::zb_h1: return add_messages(zb_h1(ranks, micro_batches), Receive::when_needed);
  }
  __builtin_unreachable();
}

std::string text(const Action& action) {
  const auto [kind, stage, j] = action;
  switch (kind) {
    case ActionKind::forward: return fmt::format("forward of micro-batch {} on stage {}", j, stage);
    case ActionKind::backward: return fmt::format("backward of micro-batch {} on stage {}", j, stage);
    case ActionKind::backward_input:
      return fmt::format("input backward of micro-batch {} on stage {}", j, stage);
    case ActionKind::backward_weight:
      return fmt::format("weight backward of micro-batch {} on stage {}", j, stage);
    case ActionKind::send_activation:
      return fmt::format("send of the activation of micro-batch {} from stage {} to stage {}", j, stage,
                         stage + 1);
    case ActionKind::receive_activation:
      return fmt::format("receive of the activation of micro-batch {} on stage {} from stage {}", j, stage,
                         stage - 1);
    case ActionKind::send_gradient:
      return fmt::format("send of the gradient of micro-batch {} from stage {} to stage {}", j, stage,
                         stage - 1);
    case ActionKind::receive_gradient:
      return fmt::format("receive of the gradient of micro-batch {} on stage {} from stage {}", j, stage,
                         stage + 1);
  }
  __builtin_unreachable();
}

std::string short_text(const Action& action, const Shape& shape) {
  const int chunk = action.stage / shape.ranks;
  const std::string letter = shape.chunks == 1 ? "" : std::string(1, static_cast<char>('a' + chunk % 26));
  const auto labelled = [&](const char* before, const char* after) {
    return fmt::format("{}{}{}{}", before, action.micro_batch, letter, after);
  };
  switch (action.kind) {
    case ActionKind::forward: return labelled("F", "");
    case ActionKind::backward:
    case ActionKind::backward_input: return labelled("B", "");
    case ActionKind::backward_weight: return labelled("W", "");
    case ActionKind::send_activation: return labelled("F", ">");
    case ActionKind::receive_activation: return labelled(">F", "");
    case ActionKind::send_gradient: return labelled("B", ">");
    case ActionKind::receive_gradient: return labelled(">B", "");
  }
  __builtin_unreachable();
}

}  // namespace dist::pipeline
