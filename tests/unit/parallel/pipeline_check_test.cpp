// Right lists pass the check; each kind of mistake is refused with its own message.
#include <algorithm>
#include <iterator>

#include <gtest/gtest.h>

#include "dist/parallel/pipeline/check.h"

#include "pipeline_shapes.h"

namespace dist::pipeline::test {
namespace {

using enum ActionKind;

TEST(Check, EveryScheduleIsRight) {
  for (const Case& each : all_cases())
    EXPECT_EQ(check(make_schedule(each.kind, each.shape)), "") << each.text();
}

TEST(Check, ReceivesWhereTheyAreSentNeverDeadlock) {
  for (const Case& each : all_cases()) {
    Schedule computations = make_schedule(each.kind, each.shape);
    for (auto& actions : computations.ranks)
      std::erase_if(actions, [](const Action& action) { return is_message(action.kind); });
    EXPECT_EQ(check(add_messages(computations, Receive::when_sent)), "") << each.text();
  }
}

// 1F1B on 2 ranks, 3 micro-batches:
//   rank 0   F0 F0> F1 F1> >B0 B0 F2 F2> >B1 B1 >B2 B2
//   rank 1   >F0 F0 B0 B0> >F1 F1 B1 B1> >F2 F2 B2 B2>
Schedule right() { return make_schedule(Kind::one_f_one_b, {2, 3}); }

using Actions = std::vector<Action>;
Actions::iterator at(Actions& actions, const Action& action) {
  const auto found = std::ranges::find(actions, action);
  EXPECT_NE(found, actions.end()) << text(action);
  return found;
}
void remove(Actions& actions, const Action& action) { actions.erase(at(actions, action)); }
void swap(Actions& actions, const Action& one, const Action& other) {
  std::iter_swap(at(actions, one), at(actions, other));
}
void move_behind(Actions& actions, const Action& moved, const Action& place) {
  remove(actions, moved);
  actions.insert(std::next(at(actions, place)), moved);
}

TEST(Check, AMissingActionIsNamed) {
  const Schedule schedule = right();
  for (const Action& action : schedule.ranks[1]) {
    Schedule wrong = schedule;
    remove(wrong.ranks[1], action);
    EXPECT_EQ(check(wrong), "rank 1: " + text(action) + " is missing");
  }
  Schedule wrong = make_schedule(Kind::zb_h1, {2, 3});
  remove(wrong.ranks[1], {backward_weight, 1, 2});
  EXPECT_EQ(check(wrong), "rank 1: weight backward of micro-batch 2 on stage 1 is missing");
}

TEST(Check, TwoBackwardsAreRefused) {
  Schedule wrong = right();
  wrong.ranks[0].push_back({backward, 0, 1});
  EXPECT_EQ(check(wrong), "rank 0: backward of micro-batch 1 on stage 0 comes twice (#9 and #12)");
  wrong.ranks[0].back().kind = backward_weight;
  EXPECT_EQ(check(wrong), "rank 0: micro-batch 1 on stage 0 has two backwards: whole (#9) and weight (#12)");
}

TEST(Check, AReceiveThatIsTooLateIsNamed) {
  Schedule wrong = right();
  swap(wrong.ranks[1], {receive_activation, 1, 1}, {forward, 1, 1});
  EXPECT_EQ(check(wrong),
            "rank 1: receive of the activation of micro-batch 1 on stage 1 from stage 0 (#5) comes too late: "
            "forward of micro-batch 1 on stage 1 (#4) needs it");
  wrong = right();
  move_behind(wrong.ranks[0], {receive_gradient, 0, 2}, {backward, 0, 2});
  EXPECT_EQ(check(wrong),
            "rank 0: receive of the gradient of micro-batch 2 on stage 0 from stage 1 (#11) comes too late: "
            "backward of micro-batch 2 on stage 0 (#10) needs it");
}

TEST(Check, AnActionBeforeWhatItNeedsIsNamed) {
  Schedule wrong = right();
  swap(wrong.ranks[0], {forward, 0, 0}, {send_activation, 0, 0});
  EXPECT_EQ(
      check(wrong),
      "rank 0: send of the activation of micro-batch 0 from stage 0 to stage 1 (#0) comes before forward "
      "of micro-batch 0 on stage 0 (#1), which it needs");
  wrong = right();
  swap(wrong.ranks[1], {forward, 1, 0}, {backward, 1, 0});
  EXPECT_EQ(
      check(wrong),
      "rank 1: backward of micro-batch 0 on stage 1 (#1) comes before forward of micro-batch 0 on stage 1 "
      "(#2), which it needs");
  wrong = make_schedule(Kind::interleaved, {1, 1, 2});
  std::swap(wrong.ranks[0][2], wrong.ranks[0][3]);
  EXPECT_EQ(
      check(wrong),
      "rank 0: backward of micro-batch 0 on stage 0 (#2) comes before backward of micro-batch 0 on stage 1 "
      "(#3), which it needs");
  wrong = make_schedule(Kind::zb_h1, {1, 1});
  std::swap(wrong.ranks[0][1], wrong.ranks[0][2]);
  EXPECT_EQ(
      check(wrong),
      "rank 0: weight backward of micro-batch 0 on stage 0 (#1) comes before input backward of micro-batch "
      "0 on stage 0 (#2), which it needs");
}

TEST(Check, AStageOnTheWrongRankIsNamed) {
  Schedule wrong = right();
  std::swap(wrong.ranks[0], wrong.ranks[1]);
  EXPECT_EQ(check(wrong),
            "rank 0: receive of the activation of micro-batch 0 on stage 1 from stage 0 (#0) is on the wrong "
            "rank: stage 1 is on rank 1");
}

TEST(Check, WhatDoesNotExistIsNamed) {
  Schedule wrong = right();
  wrong.ranks[1].push_back({forward, 1, 3});
  EXPECT_EQ(check(wrong),
            "rank 1: forward of micro-batch 3 on stage 1 (#12) is impossible: there are stages 0 to 1 and "
            "micro-batches 0 to 2");
  wrong.ranks[1].back() = {send_activation, 1, 2};
  EXPECT_EQ(
      check(wrong),
      "rank 1: send of the activation of micro-batch 2 from stage 1 to stage 2 (#12) is impossible: there "
      "are stages 0 to 1 and micro-batches 0 to 2");
  wrong.ranks.emplace_back();
  EXPECT_EQ(check(wrong), "the schedule has 3 lists for 2 ranks");
  wrong = make_schedule(Kind::interleaved, {1, 1, 2});
  wrong.ranks[0].push_back({send_activation, 0, 0});
  EXPECT_EQ(
      check(wrong),
      "rank 0: send of the activation of micro-batch 0 from stage 0 to stage 1 (#4) needs no message: both "
      "stages are on this rank");
}

TEST(Check, QueuesAreUsedInOrder) {
  Schedule wrong = make_schedule(Kind::gpipe, {1, 3});
  std::swap(wrong.ranks[0][3], wrong.ranks[0][5]);
  EXPECT_EQ(
      check(wrong),
      "rank 0: on stage 0 backward of micro-batch 2 comes before that of micro-batch 0, whose forward came "
      "first; layers keep what backward needs in a queue");
  wrong = make_schedule(Kind::gpipe, {2, 2});  // rank 1: >F0 F0 >F1 F1 ...
  auto& actions = wrong.ranks[1];
  move_behind(actions, {forward, 1, 0}, {receive_activation, 1, 1});
  swap(actions, {receive_activation, 1, 0}, {receive_activation, 1, 1});
  EXPECT_EQ(
      check(wrong),
      "rank 1 receives messages from rank 0 in another order than they are sent: first receive of the "
      "activation "
      "of micro-batch 1 on stage 1 from stage 0, first send of the activation of micro-batch 0 from stage "
      "0 to stage 1");
}

TEST(Check, BlockingSendsOf1F1BDeadlock) {
  EXPECT_EQ(
      check(right(), Messages::one_by_one),
      "deadlock: rank 0 waits for rank 1 in the send of the activation of micro-batch 1 from stage 0 to "
      "stage 1 (#3), rank 1 waits for rank 0 in the send of the gradient of micro-batch 0 from stage 1 to "
      "stage 0 (#3); start the sends and receives of a step together");
  for (int p = 2; p <= 8; ++p)
    for (int m = 1; m <= 16; ++m)
      EXPECT_EQ(check(make_schedule(Kind::one_f_one_b, {p, m}), Messages::one_by_one).empty(), m == 1)
          << p << " ranks, " << m << " micro-batches";
}

TEST(Check, BlockingSendsOfGPipeDoNotDeadlock) {  // messages go in one direction at a time
  for (const Case& each : all_cases()) {
    if (each.kind != Kind::gpipe) continue;
    EXPECT_EQ(check(make_schedule(each.kind, each.shape), Messages::one_by_one), "") << each.text();
  }
}

TEST(Check, ReceivesOfInterleavedWhereTheyAreNeededDeadlock) {
  EXPECT_EQ(
      check(add_messages(interleaved(2, 4, 2), Receive::when_needed)),
      "deadlock: rank 0 waits for rank 1 in the send of the gradient of micro-batch 0 from stage 2 to "
      "stage 1 (#14), rank 1 waits for rank 0 in the send of the gradient of micro-batch 1 from stage 3 to "
      "stage 2 (#13)");
  EXPECT_EQ(
      check(add_messages(interleaved(3, 6, 2), Receive::when_needed)),
      "deadlock: rank 0 waits for rank 2 in the send of the gradient of micro-batch 0 from stage 3 to "
      "stage 2 (#21), rank 2 waits for rank 1 in the send of the gradient of micro-batch 2 from stage 5 to "
      "stage 4 (#20), rank 1 waits for rank 0 in the send of the gradient of micro-batch 1 from stage 4 to "
      "stage 3 (#26)");
  const std::string large = check(add_messages(interleaved(8, 16, 2), Receive::when_needed));
  EXPECT_TRUE(large.ends_with(", and so on, in a cycle of 8 ranks")) << large;
}

}  // namespace
}  // namespace dist::pipeline::test
