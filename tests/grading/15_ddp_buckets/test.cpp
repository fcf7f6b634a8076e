// The grading of lab 15. Every rank is a process of its own in the grader's simulation. The grader chooses
// sizes and gradients at random, decides when each is ready, and sees what is sent, when and in which order.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using namespace lab15;

// ------------------------------------------------------------------------------------ part 1: fill_buckets

TEST(Part1Fill, pytorchs_own_buckets) {
  worth(6, 1);
  expect_golden();
}

TEST(Part1Fill, any_sizes) {
  worth(4, 1);
  Random random("sizes");
  std::vector<Filling> questions;
  for (int i = 0; i < 20; ++i) questions.push_back(draw_filling(random, random.between(1, 40), {"f32"}));
  Filling exact{{{100}, {200}, {400}, {100}, {100}}, {300, 400}};  // buckets that reach their limits exactly
  questions.push_back(exact);
  expect_filled(questions);
}

TEST(Part1Fill, the_last_partial_bucket) {
  worth(4, 1);
  Random random("last");
  std::vector<Filling> questions;
  for (const int last : {1, 3}) {
    Filling question{{{1000}, {500}, {500}}, {1000, 1000}};
    for (int i = 0; i < last; ++i)
      question.sizes.push_back({static_cast<std::size_t>(4 * random.between(1, 50))});
    questions.push_back(question);
  }
  expect_filled(questions);
}

TEST(Part1Fill, a_bucket_has_one_dtype) {
  worth(4, 1);
  Random random("dtypes");
  std::vector<Filling> questions;
  for (int i = 0; i < 20; ++i)
    questions.push_back(draw_filling(random, random.between(10, 40), {"f32", "f16", "f64"}));
  expect_filled(questions);
}

TEST(Part1Fill, one_limit_or_none) {
  worth(2, 1);
  Random random("limits");
  std::vector<Filling> questions{{{}, {100, 200}}, {{}, {}}};
  for (const Limits& limits : {Limits{}, Limits{500}, Limits{1}, Limits{0, 300}, Limits{200, 900, 400}}) {
    questions.push_back(draw_filling(random, random.between(10, 40), {"f32", "f64"}));
    questions.back().limits = limits;
  }
  expect_filled(questions);
}

// ----------------------------------------------------------------------------------- part 2: make_reducer

std::vector<Gradient> draw_gradients(Random& random, const std::vector<std::string>& dtypes) {
  std::vector<Gradient> gradients;
  for (int i = random.between(6, 12); i > 0; --i) {
    gradients.push_back(
        {{random.between(1, 9), random.between(2, 9)},
         dtypes[static_cast<std::size_t>(random.between(0, static_cast<int>(dtypes.size()) - 1))]});
    gradients.push_back({{random.between(1, 30)}, gradients.back().dtype});
  }
  const auto anywhere = random.between(0, static_cast<int>(gradients.size()));
  gradients.insert(gradients.begin() + anywhere, Gradient{{}, dtypes.front()});  // of a number: no axis
  return gradients;
}

TEST(Part2Reducer, the_last_gradient_first) {
  worth(6, 2);
  Random random("reducer");
  expect_reducer(random, draw_gradients(random, {"f32"}), {64, 256}, Look::order);
  if (HasFailure()) return;
  expect_reducer(random, draw_gradients(random, {"f32", "f64"}), {64, 512}, Look::order);
}

TEST(Part2Reducer, gradients_lie_in_their_buckets) {
  worth(6, 2);
  Random random("memory");
  expect_reducer(random, draw_gradients(random, {"f32", "f64"}), {64, 256}, Look::memory);
}

TEST(Part2Reducer, shapes_and_elements_stay) {
  worth(4, 2);
  Random random("elements");
  expect_reducer(random, draw_gradients(random, {"f32", "f64"}), {64, 256}, Look::elements);
}

// -------------------------------------------------------------------------------- part 3: start and ready

TEST(Part3Ready, every_backward_averages) {
  worth(8, 3);
  Random random("averages");
  for (const int n : {2, random.between(3, 5), 1}) {
    expect_means(random, n, 3, {.model = draw_model(random, {1, 2, 3}, random.between(2, 200))});
    if (HasFailure()) return;
  }
}

std::vector<std::vector<std::size_t>> draw_orders(Random& random, int ranks, const Model& model) {
  std::vector<std::vector<std::size_t>> orders;
  for (int rank = 0; rank < ranks; ++rank) {
    orders.emplace_back();
    for (auto i = model.counts.size(); i-- > 0;) orders.back().push_back(i);
    if (rank % 2 == 1) random.shuffle(orders.back());
  }
  std::vector<std::size_t> first_to_last;
  for (std::size_t i = 0; i < model.counts.size(); ++i) first_to_last.push_back(i);
  orders.back() = first_to_last;
  return orders;
}

TEST(Part3Ready, same_order_on_all_ranks) {
  worth(10, 3);
  Random random("orders");
  for (const bool even : {false, true}) {
    const int n = random.between(2, 4);
    Play play{.model = draw_model(random, {1, 2, 1, 3}, 60, even)};
    if (even) play.model = draw_model(random, {2, 2, 2}, 60, even);
    play.orders = draw_orders(random, n, play.model);
    expect_calls(random, n, play);
    if (HasFailure()) return;
  }
}

TEST(Part3Ready, one_all_reduce_a_bucket) {
  worth(7, 3);
  Random random("calls");
  for (const int n : {2, 3}) {
    expect_calls(random, n, {.model = draw_model(random, {2, 1, random.between(2, 4), 2}, 100)});
    if (HasFailure()) return;
  }
}

TEST(Part3Ready, backward_goes_on_meanwhile) {
  worth(11, 3);
  Random random("overlap");
  for (const double share : {0.6, 0.95, 1.4}) {
    expect_overlap(random, random.between(2, 4), share);
    if (HasFailure()) return;
  }
}

// ----------------------------------------------------------------------------------------- part 4: finish

TEST(Part4Finish, waits_for_all) {
  worth(9, 4);
  Random random("finish");
  for (const int n : {2, random.between(3, 5)}) {
    expect_finished(random, n);
    if (HasFailure()) return;
  }
}

TEST(Part4Finish, names_what_is_missing) {
  worth(5, 4);
  Random random("missing");
  for (const std::size_t launched : {0U, 1U, 2U, 3U}) {
    expect_missing_named(random, 2, launched);
    if (HasFailure()) return;
  }
}

// ------------------------------------------------------------------------------------- part 5: accumulate

TEST(Part5Accumulate, sums_of_small_batches) {
  worth(6, 5);
  Random random("accumulate");
  for (const int batches : {random.between(2, 4), 1}) {
    expect_accumulated(random, random.between(2, 4), batches);
    if (HasFailure()) return;
  }
  expect_accumulated(random, 2, 2, false);
  if (HasFailure()) return;
  expect_syncs_after_an_error(random, 2, random.between(2, 4));
}

TEST(Part5Accumulate, only_the_last_one_sends) {
  worth(8, 5);
  Random random("silence");
  expect_silence(random, random.between(2, 3), random.between(2, 4));
}

}  // namespace
