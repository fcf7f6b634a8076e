// The grading of lab 17. Places and slices are pure functions. In parts 3 to 5 every rank is a process of its
// own in the grader's simulation, which counts the groups and sees each all_reduce, its group and its bytes.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using namespace lab17;

// ----------------------------------------------------------------------------------------- part 1: places

TEST(Part1Place, two_axes) {
  worth(6, 1);
  Random random("two axes");
  expect_coordinates({draw_grid(random, {2, 3}), draw_grid(random, {5, 2}), draw_grid(random, {4}),
                      draw_grid(random, {random.between(2, 4), 5})});
}

TEST(Part1Place, three_and_four_axes) {
  worth(4, 1);
  Random random("many axes");
  expect_coordinates({draw_grid(random, {2, 3, 4}), draw_grid(random, {3, 1, 2}),
                      draw_grid(random, {2, random.between(3, 4), 2, 3})});
}

TEST(Part1Place, the_rank_at_a_place) {
  worth(5, 1);
  Random random("rank at");
  expect_ranks({draw_grid(random, {2, 3}), draw_grid(random, {4, 3, 2}), draw_grid(random, {1, 5}),
                draw_grid(random, {2, 2, random.between(3, 4), 2})});
}

TEST(Part1Place, ranks_in_any_order) {
  worth(5, 1);
  Random random("any order");
  const std::vector<Grid> grids{draw_grid(random, {2, 3}, true), draw_grid(random, {3, 2, 2}, true),
                                draw_grid(random, {random.between(3, 6)}, true)};
  expect_coordinates(grids);
  if (!HasFailure()) expect_ranks(grids);
}

// ----------------------------------------------------------------------------------------- part 2: slices

TEST(Part2Slice, along_one_axis) {
  worth(6, 2);
  Random random("one axis");
  expect_slices({draw_grid(random, {2, 4}), draw_grid(random, {3, 2, random.between(2, 3)})}, Along::one);
}

TEST(Part2Slice, along_several_axes) {
  worth(6, 2);
  Random random("several axes");
  expect_slices({draw_grid(random, {2, 3, 2}), draw_grid(random, {2, 2, 3, 2})}, Along::several);
}

TEST(Part2Slice, ranks_in_any_order_and_axes_of_one) {
  worth(4, 2);
  Random random("slices in any order");
  const std::vector<Grid> grids{draw_grid(random, {2, 3}, true), draw_grid(random, {1, 3, 2}, true),
                                draw_grid(random, {1, 1}, true)};
  expect_slices(grids, Along::one);
  if (!HasFailure()) expect_slices(grids, Along::several);
}

// ----------------------------------------------------------------------------------------- part 3: groups

Flattened flat(const Grid& grid, const std::vector<std::size_t>& axes) {
  Flattened flattened;
  for (const std::size_t axis : axes) {
    flattened.axes.push_back(grid.names[axis]);
    flattened.name += (flattened.name.empty() ? "" : "_") + grid.names[axis];
  }
  return flattened;
}

TEST(Part3Groups, of_each_axis) {
  worth(8, 3);
  Random random("groups");
  const int odd = random.between(2, 3);
  for (const Ints& sizes : {Ints{2, 4}, Ints{3, 2, odd}, Ints{5}, Ints{1, 3}}) {
    expect_groups(draw_grid(random, sizes), 0);
    if (HasFailure()) return;
  }
}

TEST(Part3Groups, one_for_each_line) {
  worth(6, 3);
  Random random("number of groups");
  const Grid grid = draw_grid(random, {2, 3, 4});  // 12 + 8 + 6 lines
  expect_number_of_groups(grid, {});
  if (HasFailure()) return;
  const Grid small = draw_grid(random, {2, 1, 3});
  expect_number_of_groups(small, {flat(small, {0, 1}), flat(small, {0, 2}), flat(small, {0, 1})});
}

TEST(Part3Groups, of_some_of_the_ranks) {
  worth(5, 3);
  Random random("some ranks");
  for (const Ints& sizes : {Ints{2, 2}, Ints{3, 2}}) {
    const Grid grid = draw_grid(random, sizes, true);
    expect_groups(grid, 2, {flat(grid, {0, 1}), flat(grid, {0, 1})});
    if (HasFailure()) return;
  }
}

TEST(Part3Groups, of_flattened_axes) {
  worth(5, 3);
  Random random("flattened");
  for (const bool shuffled : {false, true}) {
    const Grid grid = draw_grid(random, {2, shuffled ? 1 : 3, 2}, shuffled);
    expect_groups(grid, 0,
                  {flat(grid, {0, 1}),
                   flat(grid, {0, 2}),
                   flat(grid, {0, 1}),
                   flat(grid, {0, 1, 2}),
                   {{grid.names[2]}, "one_axis"}});
    if (HasFailure()) return;
  }
}

// ------------------------------------------------------------------------------------------- part 4: loss

std::vector<std::int64_t> draw_tokens(Random& random, int count, int fewest) {
  std::vector<std::int64_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(random.between(fewest, 9));
  tokens.front() = tokens.back() + 7;
  return tokens;
}

TEST(Part4Loss, each_token_counts_once) {
  worth(6, 4);
  Random random("tokens");
  const Grid two = draw_grid(random, {3, 2}), three = draw_grid(random, {2, 2, 2});
  for (const Data& data : {Data{two, flat(two, {0}), {draw_tokens(random, 3, 1), draw_tokens(random, 3, 1)}},
                           Data{two, flat(two, {1}), {draw_tokens(random, 2, 1)}},
                           Data{three, flat(three, {0, 2}), {draw_tokens(random, 4, 1)}}}) {
    expect_losses(random, data);
    if (HasFailure()) return;
  }
}

TEST(Part4Loss, many_tokens_and_none) {
  worth(3, 4);
  Random random("many tokens");
  const Grid grid = draw_grid(random, {2, 3});
  expect_losses(random, {grid, flat(grid, {1}), {{(1 << 24) + 1, 2 * random.between(1, 9), 2}, {0, 5, 0}}});
  if (HasFailure()) return;
  expect_losses(random, {grid, flat(grid, {1}), {{std::int64_t{1} << 31, random.between(1, 9), 0}}});
}

TEST(Part4Loss, one_all_reduce) {
  worth(3, 4);
  Random random("one exchange");
  const Grid grid = draw_grid(random, {2, 2, 2});
  expect_one_exchange(random,
                      {grid, flat(grid, {0, 1}), {draw_tokens(random, 4, 1), draw_tokens(random, 4, 1)}});
}

// ------------------------------------------------------------------------------------------- part 5: norm

Part over(const Grid& grid, const std::vector<std::size_t>& axes, int fewest = 1, int most = 8,
          bool ends_with_none = false) {
  return {flat(grid, axes).axes, fewest, most, ends_with_none};
}

TEST(Part5Norm, sharded_and_replicated) {
  worth(8, 5);
  Random random("norm");
  const Grid two = draw_grid(random, {2, 3}), one = draw_grid(random, {random.between(3, 5)});
  for (const Norm& norm :
       {Norm{two, {over(two, {1}), over(two, {}), over(two, {1}), over(two, {0})}},
        Norm{one, {over(one, {0}), over(one, {})}}, Norm{two, {over(two, {0, 1}), over(two, {})}}}) {
    expect_norm(random, norm);
    if (HasFailure()) return;
  }
}

TEST(Part5Norm, many_axes_and_empty_shards) {
  worth(5, 5);
  Random random("many axes");
  const Grid three = draw_grid(random, {2, 2, 3}), thin = draw_grid(random, {1, 4});
  for (const Norm& norm :
       {Norm{three, {over(three, {0, 2}), over(three, {1}), over(three, {}), over(three, {0, 1, 2})}},
        Norm{thin, {over(thin, {1}, 1, 2, true), over(thin, {0, 1}, 0, 2, true), over(thin, {0})}},
        Norm{thin, {over(thin, {1}, 0, 0), over(thin, {}, 3)}}}) {
    expect_norm(random, norm);
    if (HasFailure()) return;
  }
}

TEST(Part5Norm, one_all_reduce_for_each_axis) {
  worth(5, 5);
  Random random("reductions");
  const Grid grid = draw_grid(random, {2, 2, 2});
  const auto same = random.between(3, 6);  // all shards equally large
  expect_reductions(random, {grid,
                             {over(grid, {2}, same, same), over(grid, {}, same, same),
                              over(grid, {0, 2}, same, same), over(grid, {2}, same, same)}});
}

TEST(Part5Norm, the_same_bits_on_all_ranks) {
  worth(3, 5);
  Random random("bits");
  for (const Ints& sizes : {Ints{3, 4}, Ints{2, 3, 2}, Ints{4, 3}}) {
    Norm norm{draw_grid(random, sizes), {}};
    for (int i = 0; i < 5; ++i)  // many sums, so that a different order shows in the last bits
      for (const std::vector<std::size_t>& axes : {std::vector<std::size_t>{0, 1}, {0}, {1}, {}})
        norm.parts.push_back(over(norm.grid, axes, 5));
    expect_same_bits(random, norm);
    if (HasFailure()) return;
  }
}

TEST(Part5Norm, clips_all_gradients_by_one_factor) {
  worth(5, 5);
  Random random("clip");
  const Grid grid = draw_grid(random, {2, 3});
  const std::vector<Part> parts{over(grid, {1}), over(grid, {}), over(grid, {0, 1})};
  // Too large; small enough; so small that 1e-6 counts; and so near to the limit.
  for (const Norm& norm : {Norm{grid, parts, 1, 0.4}, Norm{grid, parts, 1, 3}, Norm{grid, parts, 1e-6, 0.5},
                           Norm{grid, parts, 1, 1 + 1e-9}}) {
    expect_clipped(random, norm);
    if (HasFailure()) return;
  }
}

TEST(Part5Norm, clips_with_one_norm) {
  worth(2, 5);
  Random random("clip once");
  const Grid grid = draw_grid(random, {2, 2});
  expect_reductions(random, {grid, {over(grid, {1}), over(grid, {})}, 1, 0.5});
}

}  // namespace
