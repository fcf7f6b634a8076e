// The grading of lab 19. Every rank is a process of its own in the grader's simulation, in a group whose
// ranks need not be in the job's order. The grader plays the arithmetic, chooses sizes and numbers at random,
// and sees what is sent, held and when.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using namespace lab19;

// ------------------------------------------------------------------------------------------ part 1: layers

// Groups of each size, some of which are not in order.
std::vector<Groups> draw_jobs(Random& random) {
  return {draw_groups(random, 2), one_group(4), draw_groups(random, 3), one_group(1)};
}

// Sizes that n divides, or does not.
LayerSizes draw_sizes(Random& random, const Groups& groups, bool is_even) {
  const auto n = static_cast<int>(groups[0].size());
  const auto size = [&] { return is_even ? 2 * n : n * random.between(1, 2) + random.between(1, 3); };
  return {random.between(2, 5), size(), size() + (is_even ? n : 0)};
}

TEST(Part1Layers, parts_of_the_weights) {
  worth(6, 1);
  Random random("cut");
  for (const char* kind : {"column", "row"}) {
    expect_cut(random, kind, {1, 5, 7}, one_group(4), "f64");
    if (HasFailure()) return;
    expect_cut(random, kind, {1, random.between(4, 11), random.between(4, 11)}, draw_groups(random, 3),
               "f32");
    if (HasFailure()) return;
  }
}

TEST(Part1Layers, only_parts_are_kept) {
  worth(4, 1);
  Random random("cut memory");
  for (const char* kind : {"column", "row"}) {
    expect_only_parts_are_kept(random, kind, 4);
    if (HasFailure()) return;
  }
}

void expect_layers(Random& random, const char* phase) {
  bool is_even = true;
  for (const Groups& groups : draw_jobs(random)) {
    for (const char* kind : {"column", "row"}) {
      expect_layer(random, kind, phase, draw_sizes(random, groups, is_even), groups, is_even ? "f64" : "f32",
                   groups[0].size() == 4);
      if (testing::Test::HasFailure()) return;
      is_even = !is_even;
    }
    is_even = !is_even;
  }
}

TEST(Part1Layers, forward_as_on_one_rank) {
  worth(8, 1);
  Random random("layers forward");
  expect_layers(random, "forward");
}

TEST(Part1Layers, backward_as_on_one_rank) {
  worth(8, 1);
  Random random("layers backward");
  expect_layers(random, "backward");
}

TEST(Part1Layers, one_all_reduce_each_way) {
  worth(4, 1);
  Random random("layer traffic");
  expect_layer_traffic(random, {random.between(2, 5), random.between(5, 9), random.between(5, 9)},
                       random.between(2, 4));
}

TEST(Part1Layers, the_sum_is_hidden) {
  worth(6, 1);
  Random random("layer time");
  expect_hidden_sum(random, random.between(2, 4));
}

// ------------------------------------------------------------------------------------------- part 2: a pair

TEST(Part2Pair, as_on_one_rank) {
  worth(8, 2);
  Random random("pair");
  int inner = 4;
  for (const Groups& groups : draw_jobs(random)) {
    expect_pair(
        random,
        {"pair", {random.between(2, 4), random.between(2, 5), inner}, groups, inner % 2 == 0 ? "f64" : "f32"},
        groups[0].size() == 4);
    if (HasFailure()) return;
    inner = random.between(4, 9);
  }
}

TEST(Part2Pair, one_all_reduce_each_way) {
  worth(6, 2);
  Random random("pair traffic");
  const int n = random.between(2, 4);
  expect_pair_traffic(random,
                      {"pair", {random.between(3, 5), random.between(3, 5), 2 * n + 1}, one_group(n)});
}

// ------------------------------------------------------------------------------------------ part 3: heads

Sizes draw_attention(Random& random, int heads, int d) {
  return {random.between(2, 4), heads * d, heads * d, heads, true};
}

TEST(Part3Heads, heads_stay_whole) {
  worth(8, 3);
  Random random("heads");
  for (const Groups& groups : {one_group(2), draw_groups(random, 3), one_group(4)}) {
    const auto n = static_cast<int>(groups[0].size());
    for (const int heads : {n, 5}) {
      expect_heads(random, {"cut", draw_attention(random, heads, random.between(2, 3)), groups,
                            heads == n ? "f64" : "f32"});
      if (HasFailure()) return;
    }
  }
}

TEST(Part3Heads, attention_as_on_one_rank) {
  worth(6, 3);
  Random random("attention");
  for (const Groups& groups : {one_group(2), draw_groups(random, 3), one_group(1)}) {
    expect_pair(random,
                {"attention", draw_attention(random, random.between(3, 5), random.between(2, 3)), groups});
    if (HasFailure()) return;
  }
}

// ------------------------------------------------------------------------------------- part 4: vocabulary

TEST(Part4Vocabulary, embedding_as_on_one_rank) {
  worth(6, 4);
  Random random("embedding");
  for (const Groups& groups : draw_jobs(random)) {
    expect_embedding(random, random.between(3, 7), random.between(4, 11), random.between(1, 4), groups,
                     groups[0].size() == 4);
    if (HasFailure()) return;
  }
  expect_embedding(random, 6, 5, 2, one_group(4), false);  // one rank has no row
}

TEST(Part4Vocabulary, loss_as_on_one_rank) {
  worth(6, 4);
  Random random("loss");
  for (const Groups& groups : draw_jobs(random)) {
    expect_loss(random, random.between(2, 6), random.between(4, 11), groups, 0, 2, groups[0].size() == 4);
    if (HasFailure()) return;
  }
  expect_loss(random, 3, 5, one_group(4), 0, 2);  // one rank has no column
}

TEST(Part4Vocabulary, large_logits) {
  worth(4, 4);
  Random random("large logits");
  for (const double about : {0.0, 9000.0, -9000.0, 1e12, -1e12}) {
    // Far apart, and so near to each other that the logarithm of their sum matters.
    for (const double spread : {900.0, 2.0}) {
      expect_loss(random, random.between(2, 6), random.between(6, 11), one_group(random.between(2, 3)), about,
                  spread);
      if (HasFailure()) return;
    }
  }
}

TEST(Part4Vocabulary, logits_stay_where_they_are) {
  worth(4, 4);
  Random random("vocabulary traffic");
  expect_vocabulary_traffic(random, random.between(2, 4));
}

// -------------------------------------------------------------------------------- part 5: sequence parallel

TEST(Part5Sequence, as_on_one_rank) {
  worth(5, 5);
  Random random("sequence");
  int n = 2;
  for (const Groups& groups : {one_group(2), draw_groups(random, 3), one_group(4), one_group(1)}) {
    // The other group of a job has one or two ranks.
    n = static_cast<int>(groups[0].size() * (groups.size() > 1 ? groups[1].size() : 1));
    expect_pair(random,
                {"pair",
                 {n * random.between(1, 2), random.between(2, 5), random.between(4, 7)},
                 groups,
                 n % 2 == 0 ? "f64" : "f32",
                 true},
                groups[0].size() == 4);
    if (HasFailure()) return;
  }
}

TEST(Part5Sequence, gathers_and_scatters) {
  worth(3, 5);
  Random random("sequence traffic");
  const int n = random.between(2, 4);
  expect_pair_traffic(random, {"pair", {2 * n, random.between(3, 5), 2 * n + 1}, one_group(n), "f64", true});
}

TEST(Part5Sequence, only_own_tokens_are_kept) {
  worth(3, 5);
  Random random("sequence memory");
  expect_kept_tokens(random, 4);
}

TEST(Part5Sequence, collectives_are_hidden) {
  worth(3, 5);
  Random random("sequence time");
  expect_hidden_tokens(random, random.between(2, 4));
}

TEST(Part5Sequence, gradients_are_summed_once) {
  worth(2, 5);
  Random random("sum");
  expect_summed_gradients(random, one_group(random.between(2, 4)), "f64", true);
  if (!HasFailure()) expect_summed_gradients(random, draw_groups(random, 3), "f32", false);
}

}  // namespace
