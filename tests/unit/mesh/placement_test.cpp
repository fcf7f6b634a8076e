// Parts and plans, without ranks.
#include "dist/mesh/placement.h"

#include <gtest/gtest.h>

namespace dist {
namespace {

std::string text_of(const std::vector<Move>& moves) {
  std::string text;
  for (const Move& move : moves)
    text += std::to_string(move.mesh_axis) + ": " + to_string(move.from) + " -> " + to_string(move.to) + "\n";
  return text;
}

TEST(Placement, PartsAreThoseOfTorchChunk) {
  const auto part = [](const Placements& placements, const std::vector<int>& coordinate) {
    return local_part({6, 5}, {4, 2}, placements, coordinate);
  };
  EXPECT_EQ(part({Shard(0), Replicate()}, {2, 1}).shape, (Shape{2, 5}));
  EXPECT_EQ(part({Shard(0), Replicate()}, {2, 1}).offset, (Shape{4, 0}));
  EXPECT_EQ(part({Shard(0), Shard(1)}, {3, 1}).shape, (Shape{0, 2}));
  EXPECT_EQ(part({Shard(0), Shard(1)}, {3, 1}).offset, (Shape{6, 3}));
  EXPECT_EQ(part({Shard(0), Shard(0)}, {1, 1}).shape, (Shape{1, 5}));
  EXPECT_EQ(part({Shard(0), Shard(0)}, {1, 1}).offset, (Shape{3, 0}));
  EXPECT_EQ(part({Partial(), Replicate()}, {1, 1}).shape, (Shape{6, 5}));
}

TEST(Placement, PlansAreShort) {
  using P = Placements;
  EXPECT_EQ(text_of(plan_moves({Shard(0)}, {Shard(0)})), "");
  EXPECT_EQ(text_of(plan_moves({Shard(0)}, {Shard(1)})), "0: Shard(0) -> Shard(1)\n");
  EXPECT_EQ(text_of(plan_moves({Shard(1)}, {Partial()})), "0: Shard(1) -> Partial(sum)\n");
  EXPECT_EQ(text_of(plan_moves({Shard(1)}, {Partial(ReduceOp::max)})),
            "0: Shard(1) -> Replicate()\n0: Replicate() -> Partial(max)\n");
  EXPECT_EQ(text_of(plan_moves(P{Partial(), Partial()}, P{Shard(0), Shard(0)})),
            "0: Partial(sum) -> Shard(0)\n1: Partial(sum) -> Shard(0)\n");
  EXPECT_EQ(text_of(plan_moves(P{Shard(0), Shard(0)}, P{Replicate(), Replicate()})),
            "1: Shard(0) -> Replicate()\n0: Shard(0) -> Replicate()\n");
  EXPECT_EQ(text_of(plan_moves(P{Shard(0), Shard(1)}, P{Shard(0), Replicate()})),
            "1: Shard(1) -> Replicate()\n");
}

// The second axis of the mesh divides the rows that the first one left, so it must give its part back first.
TEST(Placement, AnAxisThatDividesWhatAnotherLeftMovesWithIt) {
  EXPECT_EQ(text_of(plan_moves({Shard(0), Shard(0)}, {Replicate(), Shard(0)})),
            "1: Shard(0) -> Replicate()\n0: Shard(0) -> Replicate()\n1: Replicate() -> Shard(0)\n");
  EXPECT_EQ(text_of(plan_moves({Replicate(), Shard(0)}, {Shard(0), Shard(0)})),
            "1: Shard(0) -> Replicate()\n0: Replicate() -> Shard(0)\n1: Replicate() -> Shard(0)\n");
  EXPECT_EQ(text_of(plan_moves({Shard(0), Shard(1)}, {Shard(1), Shard(0)})),
            "1: Shard(1) -> Replicate()\n0: Shard(0) -> Shard(1)\n1: Replicate() -> Shard(0)\n");
}

// All 4,096 pairs on three axes: a move divides a part, or puts it together, only along the last axis that
// divides it.
TEST(Placement, PlansOfThreeAxesKeepTheOrderOfDivision) {
  const Placements each{Shard(0), Shard(1), Replicate(), Partial()};
  const auto nth = [&](std::size_t n) { return Placements{each[n % 4], each[n / 4 % 4], each[n / 16]}; };
  for (std::size_t a = 0; a < 64; ++a)
    for (std::size_t b = 0; b < 64; ++b) {
      const Placements from = nth(a), to = nth(b);
      const std::vector<Move> moves = plan_moves(from, to);
      Placements now = from;
      for (const Move& move : moves) {
        ASSERT_EQ(now[move.mesh_axis], move.from) << text_of(moves);
        ASSERT_NE(move.from, move.to) << text_of(moves);
        for (const Placement& side : {move.from, move.to})
          for (std::size_t later = move.mesh_axis + 1; later < 3; ++later)
            ASSERT_FALSE(std::holds_alternative<Shard>(side) && now[later] == side) << text_of(moves);
        now[move.mesh_axis] = move.to;
      }
      ASSERT_EQ(now, to) << text_of(moves);
      ASSERT_EQ(moves.empty(), from == to);
    }
}

}  // namespace
}  // namespace dist
