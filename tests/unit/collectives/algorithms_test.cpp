#include "dist/collectives/algorithms.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/binomial.h"
#include "dist/collectives/bruck.h"
#include "dist/collectives/segments.h"
#include "dist/core/error.h"
#include "dist/core/tensor.h"

#include "support/fiber_transport.h"

namespace dist {
namespace {

const std::vector<OpKind> collectives{OpKind::broadcast,  OpKind::reduce,         OpKind::all_reduce,
                                      OpKind::scatter,    OpKind::gather,         OpKind::all_gather,
                                      OpKind::all_to_all, OpKind::reduce_scatter, OpKind::barrier};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(name(e.code())) + ": " + e.what();
  }
  return "no error";
}

TEST(AlgorithmTable, NamesAreUniqueAndEveryCollectiveHasOne) {
  std::set<std::pair<OpKind, std::string_view>> names;
  std::set<OpKind> covered;
  for (const AlgorithmEntry& e : algorithms()) {
    EXPECT_TRUE(names.emplace(e.collective, e.name).second) << e.name;
    EXPECT_TRUE(is_collective(e.collective));
    EXPECT_NE(e.run, nullptr);
    EXPECT_FALSE(e.about.empty());
    covered.insert(e.collective);
  }
  EXPECT_EQ(covered, std::set<OpKind>(collectives.begin(), collectives.end()));
}

TEST(AlgorithmTable, FindsByNameAndListsWhatExists) {
  EXPECT_EQ(find_algorithm(OpKind::all_reduce, "ring").name, "ring");
  EXPECT_EQ(find_algorithm(OpKind::broadcast, "chain").collective, OpKind::broadcast);
  EXPECT_EQ(error_of([] { find_algorithm(OpKind::reduce, "tree"); }),
            "invalid_argument: reduce has no algorithm \"tree\"; it has: flat, binomial, scatter_gather, "
            "chain, ring, ring_segmented, ring_2d, double_binary_tree, direct");
  EXPECT_EQ(error_of([] { find_algorithm(OpKind::send, "ring"); }),
            "invalid_argument: send has no algorithm \"ring\"; it has: none, it is not a collective");
}

TEST(Binomial, RefusesUnevenCountsAtTheRoot) {
  const auto scatter = [] {
    test::run_fibers(3, [](Transport& net) {
      Tensor all = zeros({6}), out = zeros({2});
      const TensorView v = all.flat();
      const std::vector<TensorView> ins{v.slice(0, 2), v.slice(2, 3), v.slice(5, 1)};
      binomial_scatter(net, ins, out.flat(), 0);
    });
  };
  EXPECT_EQ(error_of(scatter),
            "invalid_argument: rank 0: binomial_scatter needs equal counts, but the part of member 1 of the "
            "group has 3 elements and the root's 2; use algorithm \"flat\" for uneven parts");
}

TEST(Segments, CoverTheDataInOrderAndAreNeverNone) {
  Tensor data = arange(10);
  const TensorView all = data.flat();
  const Segments by_three(all, 12);
  ASSERT_EQ(by_three.count(), 4);
  EXPECT_EQ(by_three[3].count, 1);
  EXPECT_EQ(by_three[3].data, all.slice(9, 1).data);
  EXPECT_EQ(Segments(all, 1).count(), 10) << "never less than one element";
  EXPECT_EQ(Segments(all, 40).count(), 1);
  EXPECT_EQ(Segments(all.slice(0, 0), 12).count(), 1);
  EXPECT_EQ(Segments(all.slice(0, 0), 12)[0].count, 0);
}

}  // namespace
}  // namespace dist
