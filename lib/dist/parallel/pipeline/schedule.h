// Pipeline schedules as data: for each rank, the list of what it computes, sends and receives, in order.
//
// A model is cut into stages of consecutive layers, and a batch into micro-batches. Rank r has the stages r,
// r + ranks, r + 2 ranks, ...: its chunks. Activations go from stage to stage, gradients back.
//
// Messages are actions of their own, although they follow from the computations, for three reasons. Where a
// receive is placed decides whether ranks wait for each other in a cycle, so check.h must see it. A wrong
// list can be written down, and refused. And an interpreter needs no knowledge of schedules or neighbours:
// it does what its rank's list says. The generators below write computations only; add_messages() adds the
// rest.
//
// How a list is run: consecutive messages are one step. A rank starts all messages of a step together
// (batch_isend_irecv). Before it computes, it waits for the receive that this computation needs; it waits
// for its sends at the end.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dist::pipeline {

enum class ActionKind : std::uint8_t {
  forward,             // keeps what backward needs
  backward,            // both of the next two in one pass
  backward_input,      // the gradient of the stage's input, for which the stage before waits
  backward_weight,     // the gradients of the stage's weights, for which no stage waits
  send_activation,     // this stage's output, to the next stage
  receive_activation,  // this stage's input, from the stage before
  send_gradient,       // the gradient of this stage's input, to the stage before
  receive_gradient,    // the gradient of this stage's output, from the next stage
};
inline constexpr int action_kinds = 8;

// The stage is the one on the rank that acts, for messages too.
struct Action {
  ActionKind kind = ActionKind::forward;
  int stage = 0;
  int micro_batch = 0;
  bool operator==(const Action&) const = default;
};

// When a computation began and ended, in any unit.
struct TimedAction {
  Action action;
  double begin = 0, end = 0;
};

constexpr bool is_message(ActionKind kind) { return kind >= ActionKind::send_activation; }
constexpr bool is_receive(ActionKind kind) {
  return kind == ActionKind::receive_activation || kind == ActionKind::receive_gradient;
}
// A forward, and the messages between forwards.
constexpr bool is_forward(ActionKind kind) {
  return kind == ActionKind::forward || kind == ActionKind::send_activation ||
         kind == ActionKind::receive_activation;
}
// True for the two that give the gradient of the stage's input.
constexpr bool is_backward(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backward_input;
}

struct Shape {
  int ranks = 1;
  int micro_batches = 1;
  int chunks = 1;  // stages per rank

  int stages() const { return ranks * chunks; }
  int rank_of(int stage) const { return stage % ranks; }
  // True if there are such a stage and such a micro-batch.
  bool has(const Action& action) const;
  // True if the two stages exist and are on different ranks: what goes from one to the other is a message.
  bool are_apart(int stage, int neighbour) const;
  bool operator==(const Shape&) const = default;
};

struct Schedule {
  Shape shape;
  std::vector<std::vector<Action>> ranks;
};

enum class Kind : std::uint8_t { gpipe, one_f_one_b, interleaved, zb_h1 };
struct KindName {
  Kind kind;
  std::string_view name;
};
inline constexpr std::array kind_names{KindName{Kind::gpipe, "gpipe"}, KindName{Kind::one_f_one_b, "1f1b"},
                                       KindName{Kind::interleaved, "interleaved"},
                                       KindName{Kind::zb_h1, "zb-h1"}};
std::string_view name(Kind kind);
// Throws Error{invalid_argument} naming the known ones.
Kind kind_named(std::string_view name);

// The schedule of that kind, with its messages. Throws Error{invalid_argument} if a number of the shape is
// less than 1, or if there are several chunks per rank and the kind is not interleaved.
Schedule make_schedule(Kind kind, const Shape& shape);

// The generators write computations only.
// All forwards, then all backwards. Source: Huang et al., GPipe, NeurIPS 2019.
Schedule gpipe(int ranks, int micro_batches);
// As soon as a micro-batch has come back, its backward runs, so that few are in flight: one forward and
// one backward alternate. Source: Narayanan et al., PipeDream, SOSP 2019; with a flush after each batch, Fan
// et al., DAPPLE, PPoPP 2021.
Schedule one_f_one_b(int ranks, int micro_batches);
// 1F1B with several stages per rank, so that the pipeline fills in shorter steps. Micro-batches go through
// in rounds: all of a round pass chunk 0, then all pass chunk 1, ... Source: Narayanan et al., Efficient
// Large-Scale Language Model Training on GPU Clusters, SC 2021, where a round has `ranks` micro-batches.
// Here it has up to 2 ranks - 1: micro-batches are dealt evenly to micro_batches / ranks rounds (rounded
// down, at least one), so that their number need not be a multiple of ranks. A small round at the end instead
// could leave the first and the last rank waiting for each other's next computation.
Schedule interleaved(int ranks, int micro_batches, int chunks);
// 1F1B whose backward is split: gradients of inputs at once, since the rank before waits for them, gradients
// of weights up to `rank` micro-batches later, so that they fill the wait at the end. No rank holds more
// micro-batches than rank 0 does. Source: Qi, Wan, Huang, Lin, Zero Bubble Pipeline Parallelism, ICLR 2024,
// schedule ZB-H1.
Schedule zb_h1(int ranks, int micro_batches);

// Where a receive is put. A send is put directly after the computation whose result it sends.
enum class Receive : std::uint8_t {
  when_needed,  // directly before the computation that needs it
  when_sent,    // where the receiver is when it is sent, if a forward and a backward take equally long
};
// when_needed is right for gpipe, 1f1b and zb-h1. In interleaved, an activation may wait several steps for
// its turn, and so would its sender: when_needed deadlocks if a step is complete only when all of its
// messages are, as in NCCL's stream. when_sent never deadlocks (check.h gives the reason), but a step of
// zb-h1 would wait for messages that the rank does not need yet. So make_schedule() takes when_sent for
// interleaved only.
Schedule add_messages(const Schedule& computations, Receive receive);

// "forward of micro-batch 3 on stage 1", "send of the activation of micro-batch 3 from stage 1 to stage 2".
std::string text(const Action& action);
// "F3", "B3", "W3" for computations (B also for backward_input), "F3>" for the send of an activation, ">F3"
// for its receive, "B3>" and ">B3" for gradients. With several chunks, their letter follows: "F3b".
std::string short_text(const Action& action, const Shape& shape);

}  // namespace dist::pipeline
