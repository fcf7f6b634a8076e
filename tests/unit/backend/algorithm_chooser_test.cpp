// Which algorithm runs: the call's, else DIST_ALGO's, else the cost model's.
#include "dist/backend/algorithm_chooser.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace dist {
namespace {

using test::expect_error;

Operation all_reduce_of(std::int64_t count, std::string algorithm = "") {
  Operation operation;
  operation.kind = OpKind::all_reduce;
  operation.outputs = {empty({count})};
  operation.algorithm = std::move(algorithm);
  return operation;
}

Operation broadcast_of(std::int64_t count) {
  Operation operation = all_reduce_of(count);
  operation.kind = OpKind::broadcast;
  return operation;
}

TEST(AlgorithmChooser, TheCallComesFirst) {
  const AlgorithmChooser chooser({.ranks = 4}, nullptr, "all_reduce:tree");
  EXPECT_EQ(chooser.pick(all_reduce_of(10, "ring"), false).name, "ring");
  EXPECT_EQ(chooser.pick(all_reduce_of(10), false).name, "tree");
  EXPECT_EQ(chooser.pick(broadcast_of(10), false).name,
            choose(OpKind::broadcast, 40, {.ranks = 4}).algorithm);
}

TEST(AlgorithmChooser, EnvironmentSpellings) {
  for (const char* text : {"allreduce:ring,broadcast:chain", "all_reduce:ring,broadcast:chain"}) {
    const AlgorithmChooser chooser({.ranks = 4}, nullptr, text);
    EXPECT_EQ(chooser.pick(all_reduce_of(1), false).name, "ring");
    EXPECT_EQ(chooser.pick(broadcast_of(1), false).name, "chain");
  }
}

TEST(AlgorithmChooser, WrongSettingsAreQuoted) {
  for (const char* text : {"ring", "all_reduce", "sort:ring", "send:ring", ":ring", "all_reduce:ring,,"}) {
    expect_error(Errc::invalid_argument, {"DIST_ALGO"},
                 [&] { AlgorithmChooser({.ranks = 4}, nullptr, text); });
  }
  expect_error(Errc::invalid_argument, {"DIST_ALGO", "all_reduce:magic", "recursive_doubling"},
               [] { AlgorithmChooser({.ranks = 4}, nullptr, "broadcast:chain,all_reduce:magic"); });
}

TEST(AlgorithmChooser, RemembersPerSizeWithoutConfusion) {
  const AlgorithmChooser chooser({.ranks = 8}, nullptr, "");
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t count = 1; count < (1 << 22); count *= 2) {
      EXPECT_EQ(chooser.pick(all_reduce_of(count), false).name,
                choose(OpKind::all_reduce, static_cast<std::size_t>(count) * 4, {.ranks = 8}).algorithm);
      EXPECT_EQ(chooser.pick(broadcast_of(count), false).name,
                choose(OpKind::broadcast, static_cast<std::size_t>(count) * 4, {.ranks = 8}).algorithm);
    }
  }
}

TEST(AlgorithmChooser, SizesThatOnlyOneRankKnowsDoNotDecide) {
  Operation scatter;
  scatter.kind = OpKind::scatter;
  scatter.inputs = {empty({100}), empty({200})};
  scatter.outputs = {empty({100})};
  EXPECT_EQ(deciding_bytes(scatter), 0u);
  Operation gather_all;
  gather_all.kind = OpKind::all_gather;
  gather_all.inputs = {empty({1})};
  gather_all.outputs = {empty({1}), empty({9})};
  EXPECT_EQ(deciding_bytes(gather_all), 40u) << "all ranks know all counts";
}

}  // namespace
}  // namespace dist
