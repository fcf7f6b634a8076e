// The grading of lab 20. Cuts and lists are pure functions. In part 3 every rank is a process of its own in
// the grader's simulation: the grader plays the stages, whose computations take virtual time, and sees every
// message. Its sends wait for their receivers, except where a test says otherwise.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using namespace lab20;

// --------------------------------------------------------------------------------------------- part 1: cut

std::vector<Cut> draw_cuts(Random& random, int count) {
  std::vector<Cut> cuts;
  for (int i = 0; i < count; ++i) {
    Cut cut{{}, random.between(2, 6)};
    for (int layers = cut.stages + random.between(0, 12); layers > 0; --layers)
      cut.costs.push_back(random.between(1, 4) == 1 ? random.between(20, 60) : random.between(0, 9));
    cuts.push_back(cut);
  }
  return cuts;
}

TEST(Part1Cut, every_layer_is_on_one_stage) {
  worth(4, 1);
  Random random("layers");
  auto cuts = draw_cuts(random, 10);
  cuts.push_back({{3}, 1});
  cuts.push_back({{4, 1, 2}, 1});
  cuts.push_back({{9, 1, 1, 1}, 4});
  expect_cuts(cuts, false);
}

TEST(Part1Cut, the_costliest_stage_costs_least) {
  worth(12, 1);
  Random random("costs");
  auto cuts = draw_cuts(random, 40);
  cuts.push_back({{1, 1, 1, 5, 1}, 3});
  cuts.push_back({{1, 1, 1, 1, 1, 9}, 2});  // the head of a language model
  cuts.push_back({{9, 1, 1, 1, 1, 1}, 2});
  cuts.push_back({{5, 5, 5, 5, 1, 1}, 4});
  for (const double unit : {1.0 / 1024, 1.0 / (1 << 20)})  // in seconds, say
    for (Cut cut : draw_cuts(random, 5)) {
      cut.unit = unit;
      cuts.push_back(cut);
    }
  for (int i = 0; i < 8; ++i) {  // a float knows numbers of this size to 128 or 256
    Cut cut{{}, 5};
    for (int layers = 0; layers < 12; ++layers) cut.costs.push_back(1e9 + random.between(0, 50));
    cuts.push_back(cut);
  }
  expect_cuts(cuts, true);
}

// ------------------------------------------------------------------------------------------- part 2: lists

std::vector<Size> draw_sizes(Random& random) {
  return {{3, 5}, {2, 3}, {4, 8}, {random.between(3, 6), random.between(7, 12)}, {4, 4}};
}
const std::vector<Size> few{{4, 1}, {4, 2}, {6, 5}, {1, 3}, {1, 1}, {8, 3}};

TEST(Part2Lists, gpipe_in_order) {
  worth(6, 2);
  Random random("gpipe");
  auto sizes = draw_sizes(random);
  sizes.insert(sizes.end(), few.begin(), few.end());
  expect_lists("gpipe", sizes, Look::order);
}

TEST(Part2Lists, one_f_one_b_can_run) {
  worth(6, 2);
  Random random("can run");
  expect_lists("1f1b", draw_sizes(random), Look::can_run);
}

TEST(Part2Lists, one_f_one_b_in_flight) {
  worth(8, 2);
  Random random("in flight");
  expect_lists("1f1b", draw_sizes(random), Look::in_flight);
}

TEST(Part2Lists, one_f_one_b_bubble) {
  worth(8, 2);
  Random random("bubble of lists");
  expect_lists("1f1b", draw_sizes(random), Look::bubble);
  if (!HasFailure()) expect_lists("1f1b", draw_sizes(random), Look::order);
}

TEST(Part2Lists, fewer_micro_batches_than_ranks) {
  worth(6, 2);
  for (const Look look : {Look::can_run, Look::in_flight, Look::bubble, Look::order}) {
    expect_lists("1f1b", few, look);
    if (HasFailure()) return;
  }
}

// -------------------------------------------------------------------------------------------- part 3: step

std::vector<std::size_t> equal(int micro_batches, int samples) {
  return std::vector<std::size_t>(static_cast<std::size_t>(micro_batches), static_cast<std::size_t>(samples));
}

std::vector<std::size_t> uneven(Random& random, int micro_batches) {
  std::vector<std::size_t> samples;
  for (int j = 0; j < micro_batches; ++j) samples.push_back(static_cast<std::size_t>(random.between(1, 6)));
  samples.back() = samples.front() + 2;
  return samples;
}

TEST(Part3Step, as_on_one_rank) {
  worth(9, 3);
  Random random("one rank");
  for (const int ranks : {2, 3}) {
    expect_second_step(random, {"gpipe", ranks, equal(random.between(3, 5), 2)});
    if (HasFailure()) return;
  }
}

TEST(Part3Step, uneven_micro_batches) {
  worth(8, 3);
  Random random("uneven");
  for (const int ranks : {2, 4}) {
    expect_step(random, {"gpipe", ranks, uneven(random, random.between(3, 5)), true});
    if (HasFailure()) return;
  }
}

TEST(Part3Step, any_list) {
  worth(3, 3);
  Random random("any list");
  for (const char* kind : {"last_first", "any_order"}) {
    expect_step(random, {kind, 3, uneven(random, random.between(3, 5))});
    if (HasFailure()) return;
  }
}

TEST(Part3Step, both_directions_at_once) {
  worth(6, 3);
  Random random("1f1b");
  for (const int ranks : {2, 4}) {
    expect_step(random, {"1f1b", ranks, uneven(random, random.between(5, 7))});
    if (HasFailure()) return;
  }
}

TEST(Part3Step, fewer_micro_batches_than_ranks) {
  worth(5, 3);
  Random random("few");
  for (const auto& [ranks, micro_batches] : {Size{4, 2}, Size{3, 1}, Size{1, 3}}) {
    expect_step(random, {"1f1b", ranks, equal(micro_batches, random.between(1, 4))});
    if (HasFailure()) return;
  }
}

TEST(Part3Step, one_message_per_boundary) {
  worth(4, 3);
  Random random("messages");
  expect_messages(random, {"1f1b", 3, uneven(random, random.between(4, 6))});
}

TEST(Part3Step, one_batch_between_computations) {
  worth(3, 3);
  Random random("batches");
  for (const char* kind : {"gpipe", "1f1b"}) {
    expect_one_batch(random, {kind, 3, uneven(random, random.between(5, 6))});
    if (HasFailure()) return;
  }
}

TEST(Part3Step, memory_of_what_is_in_flight) {
  worth(3, 3);
  Random random("memory");
  expect_memory(random, {.kind = "1f1b", .ranks = 3, .samples = equal(24, 32), .width = 32});
}

TEST(Part3Step, the_bubble) {
  worth(5, 3);
  Random random("bubble");
  for (const char* kind : {"gpipe", "1f1b"}) {
    for (const int micro_batches : {4, 8}) {
      expect_bubble(random, {kind, random.between(3, 4), equal(micro_batches, 2)});
      if (HasFailure()) return;
    }
  }
}

TEST(Part3Step, a_send_delays_no_computation) {
  worth(4, 3);
  Random random("sends");
  expect_no_wait_for_sends(random, {"gpipe", random.between(2, 3), equal(random.between(5, 7), 2)});
}

}  // namespace
