// The grading of lab 14. Every rank is a process of its own in the grader's simulation. The grader chooses
// weights, samples and their distribution over the ranks at random, trains the same model in one process, and
// counts what is sent.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using namespace lab14;

std::vector<std::int64_t> draw_samples(Random& random, int ranks) {
  std::vector<std::int64_t> samples{1, 9};
  while (static_cast<int>(samples.size()) < ranks) samples.push_back(random.between(1, 20));
  random.shuffle(samples);
  return samples;
}

// ------------------------------------------------------------------------------- part 1: broadcast_weights

TEST(Part1Weights, the_weights_of_rank_0_everywhere) {
  worth(8, 1);
  Random random("weights");
  for (const int n : {2, random.between(3, 6), 1}) {
    expect_right(draw_broadcast(random, n, draw_form(random, n == 2 ? "f32" : "f64")));
    if (HasFailure()) return;
  }
}

TEST(Part1Weights, in_place) {
  worth(4, 1);
  Random random("weights in place");
  expect_in_place(draw_broadcast(random, random.between(2, 4), draw_form(random)));
}

TEST(Part1Weights, each_sent_once) {
  worth(3, 1);
  Random random("weights sent");
  const auto asked = draw_broadcast(random, random.between(2, 4), draw_form(random));
  expect_calls(asked, "broadcast", asked.form.bytes(), asked.form.shapes.size());
}

// ------------------------------------------------------------------------------- part 2: average_gradients

TEST(Part2Average, means_over_the_ranks) {
  worth(10, 2);
  Random random("means");
  for (const int n : {2, random.between(3, 6), 1}) {
    expect_right(draw_average(random, n, draw_form(random, n == 2 ? "f32" : "f64")));
    if (HasFailure()) return;
  }
  expect_right(draw_with_zeros(random, random.between(2, 4), draw_form(random)));
}

TEST(Part2Average, in_place) {
  worth(4, 2);
  Random random("means in place");
  expect_in_place(draw_average(random, random.between(2, 4), draw_form(random)));
}

TEST(Part2Average, each_sent_once) {
  worth(4, 2);
  Random random("means sent");
  const auto asked = draw_average(random, random.between(2, 4), draw_form(random));
  expect_calls(asked, "all_reduce", asked.form.bytes(), asked.form.shapes.size());
}

// ---------------------------------------------------------------------------- part 3: average_over_samples

TEST(Part3Samples, uneven_parts) {
  worth(10, 3);
  Random random("uneven");
  for (const int n : {2, random.between(3, 6)}) {
    expect_right(
        draw_over_samples(random, draw_samples(random, n), draw_form(random, n == 2 ? "f32" : "f64")));
    if (HasFailure()) return;
  }
  expect_right(draw_over_samples(random, {random.between(1, 9)}, draw_form(random)));
  if (HasFailure()) return;
  expect_right(draw_over_samples(random, {(1 << 24) + 1, 2 * random.between(1, 9), 2}, draw_form(random)));
}

TEST(Part3Samples, a_rank_without_samples) {
  worth(8, 3);
  Random random("without");
  auto samples = draw_samples(random, random.between(3, 5));
  samples[static_cast<std::size_t>(random.between(0, 2))] = 0;
  expect_right(draw_over_samples(random, samples, draw_form(random)));
  if (HasFailure()) return;
  expect_right(draw_over_samples(random, {0, 0, random.between(1, 9)}, draw_form(random)));
}

TEST(Part3Samples, in_place_and_each_sent_once) {
  worth(5, 3);
  Random random("samples sent");
  const auto asked = draw_over_samples(random, draw_samples(random, random.between(2, 4)), draw_form(random));
  expect_in_place(asked);
  if (HasFailure()) return;
  expect_calls(asked, "all_reduce", asked.form.bytes() + 8, asked.form.shapes.size() + 1);
}

// ------------------------------------------------------------------------------------------- part 4: train

std::vector<int> even_parts(Random& random) {
  return std::vector<int>(static_cast<std::size_t>(random.between(2, 5)), 3);
}

// One step, several steps, and none; a rank alone; and gradients that are zero.
void expect_trained_with(Random& random, const std::string& call, const std::string& optimizer) {
  for (const int steps : {1, random.between(3, 5), 0}) {
    expect_trained(draw_training(random, call, optimizer, steps, even_parts(random)));
    if (testing::Test::HasFailure()) return;
  }
  expect_trained(draw_training(random, call, optimizer, 2, {3}));
  if (testing::Test::HasFailure()) return;
  expect_trained(with_zeros(draw_training(random, call, optimizer, 3, even_parts(random))));
}

TEST(Part4Train, with_momentum) {
  worth(5, 4);
  Random random("momentum");
  expect_trained_with(random, "train", "momentum");
}

TEST(Part4Train, with_adam) {
  worth(6, 4);
  Random random("adam");
  expect_trained_with(random, "train", "adam");
}

TEST(Part4Train, pytorchs_own_losses) {
  worth(6, 4);
  expect_golden("momentum");
  if (HasFailure()) return;
  expect_golden("adam");
}

TEST(Part4Train, uneven_last_batch) {
  worth(5, 4);
  Random random("last batch");
  expect_trained(draw_training(random, "train", "momentum", 3, {3, 1, 2}));
  if (HasFailure()) return;
  auto training = draw_training(random, "train", "adam", 3, {3, 2, 0, 1});
  training.batches.front().back().clear();
  expect_trained(training);
}

TEST(Part4Train, gradients_alone_travel) {
  worth(4, 4);
  Random random("train traffic");
  expect_train_traffic(draw_training(random, "train", "momentum", 4, even_parts(random)));
}

// ------------------------------------------------------------------------------- part 5: train_with_server

TEST(Part5Server, as_one_rank) {
  worth(8, 5);
  Random random("server");
  expect_trained_with(random, "train_with_server", "momentum");
  if (HasFailure()) return;
  expect_trained_with(random, "train_with_server", "adam");
  if (HasFailure()) return;
  auto training = draw_training(random, "train_with_server", "adam", 3, {3, 1, 0, 2});
  training.batches.front().back().clear();
  expect_trained(training);
}

TEST(Part5Server, takes_the_step_alone) {
  worth(4, 5);
  Random random("one optimizer");
  expect_one_optimizer(draw_training(random, "train_with_server", "adam", 3, {3, 3, 3}));
}

TEST(Part5Server, every_message_has_the_server_at_one_end) {
  worth(6, 5);
  Random random("server traffic");
  expect_server_traffic(draw_training(random, "train_with_server", "momentum", 3, even_parts(random)));
}

}  // namespace
