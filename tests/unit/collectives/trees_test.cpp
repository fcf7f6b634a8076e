#include "dist/collectives/trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/view.h"

namespace dist {
namespace {

constexpr int largest_n = 600;

TEST(Trees, LogarithmsAndPowers) {
  EXPECT_EQ(ceil_log2(1), 0);
  EXPECT_EQ(floor_pow2(1), 1);
  for (int n = 2; n <= largest_n; ++n) {
    EXPECT_GE(1 << ceil_log2(n), n);
    EXPECT_LT(1 << (ceil_log2(n) - 1), n);
    EXPECT_LE(floor_pow2(n), n);
    EXPECT_GT(2 * floor_pow2(n), n);
  }
}

TEST(BinomialTree, ParentsAndChildrenAgreeAndReachEveryRankOnce) {
  for (int n = 1; n <= largest_n; ++n) {
    for (int root : {0, n / 2, n - 1}) {
      std::vector<int> times_a_child(static_cast<std::size_t>(n));
      for (int rank = 0; rank < n; ++rank) {
        const BinomialNode node = binomial_node(rank, root, n);
        EXPECT_EQ(node.is_root(), rank == root);
        for (const auto& child : node.children) {
          ++times_a_child[static_cast<std::size_t>(child.rank)];
          ASSERT_EQ(binomial_node(child.rank, root, n).parent, rank) << "n " << n << " root " << root;
        }
      }
      for (int rank = 0; rank < n; ++rank)
        ASSERT_EQ(times_a_child[static_cast<std::size_t>(rank)], rank == root ? 0 : 1) << "n " << n;
    }
  }
}

TEST(BinomialTree, ASubtreeIsTheContiguousRunOfItsSpan) {
  for (int n = 1; n <= largest_n; ++n) {
    const int root = n / 3;
    EXPECT_EQ(binomial_node(root, root, n).span, n);
    for (int rank = 0; rank < n; ++rank) {
      const BinomialNode node = binomial_node(rank, root, n);
      int covered = 1;
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
        ASSERT_EQ(child->offset, covered) << "n " << n << " rank " << rank;  // smallest first, no gap
        ASSERT_EQ(child->rank, mod(rank + child->offset, n));
        ASSERT_EQ(child->span, binomial_node(child->rank, root, n).span);
        covered += child->span;
      }
      ASSERT_EQ(covered, node.span);
    }
  }
}

// Each rank serves its children one per round, from the round after it was reached on.
int rounds_of_broadcast(int n) {
  std::vector<int> reached(static_cast<std::size_t>(n));
  for (int rank = 0; rank < n; ++rank) {  // root 0: parents come before their children
    int round = reached[static_cast<std::size_t>(rank)];
    for (const auto& child : binomial_node(rank, 0, n).children)
      reached[static_cast<std::size_t>(child.rank)] = ++round;
  }
  return *std::ranges::max_element(reached);
}

TEST(BinomialTree, BroadcastTakesCeilLog2Rounds) {
  for (int n = 1; n <= largest_n; ++n) ASSERT_EQ(rounds_of_broadcast(n), ceil_log2(n)) << "n " << n;
}

TEST(BinaryTree, ParentsAndChildrenAgreeAndReachEveryRankOnce) {
  for (int n = 1; n <= largest_n; ++n) {
    std::vector<int> times_a_child(static_cast<std::size_t>(n));
    for (int rank = 0; rank < n; ++rank) {
      const BinaryNode node = binary_node(rank, n);
      ASSERT_LE(node.children.size(), rank == 0 ? 1u : 2u);
      EXPECT_EQ(node.parent == no_rank, rank == 0);
      for (int child : node.children) {
        ++times_a_child[static_cast<std::size_t>(child)];
        ASSERT_EQ(binary_node(child, n).parent, rank) << "n " << n << " child " << child;
        ASSERT_EQ(binary_node(child, n).depth, node.depth + 1);
      }
    }
    for (int rank = 0; rank < n; ++rank)
      ASSERT_EQ(times_a_child[static_cast<std::size_t>(rank)], rank == 0 ? 0 : 1) << "n " << n;
  }
}

TEST(BinaryTree, IsAtMostCeilLog2Deep) {
  for (int n = 1; n <= largest_n; ++n) {
    int deepest = 0;
    for (int rank = 0; rank < n; ++rank) deepest = std::max(deepest, binary_node(rank, n).depth);
    ASSERT_LE(deepest, ceil_log2(n)) << "n " << n;
  }
}

TEST(BinaryTree, OddRanksAreLeavesAndSubtreesAreNeighbours) {
  for (int n = 2; n <= largest_n; ++n) {
    for (int rank = 1; rank < n; ++rank) {
      const BinaryNode node = binary_node(rank, n);
      ASSERT_TRUE(rank % 2 == 0 || node.children.empty()) << "n " << n << " rank " << rank;
      for (int child : node.children) ASSERT_LT(std::abs(child - rank), rank & -rank);
    }
  }
}

// The pair of trees.
BinaryNode node_of_tree(int tree, int rank, int n) {
  return tree == 0 ? binary_node(rank, n) : second_binary_node(rank, n);
}

int root_of_tree(int tree, int n) {
  if (tree == 0) return 0;
  return n % 2 == 0 ? n - 1 : 1 % n;
}

TEST(TwoBinaryTrees, TheSecondIsATreeOfTheSameShapeWithItsOwnRoot) {
  for (int n = 1; n <= largest_n; ++n) {
    std::vector<int> times_a_child(static_cast<std::size_t>(n)), at_depth[2];
    for (auto& ranks : at_depth) ranks.resize(32);
    for (int rank = 0; rank < n; ++rank) {
      const BinaryNode node = second_binary_node(rank, n);
      ASSERT_LE(node.children.size(), 2u);
      ASSERT_TRUE(std::ranges::is_sorted(node.children));
      ASSERT_EQ(node.parent == no_rank, rank == root_of_tree(1, n)) << "n " << n << " rank " << rank;
      for (int child : node.children) {
        ++times_a_child[static_cast<std::size_t>(child)];
        ASSERT_EQ(second_binary_node(child, n).parent, rank) << "n " << n << " child " << child;
        ASSERT_EQ(second_binary_node(child, n).depth, node.depth + 1);
      }
      ASSERT_LE(node.depth, ceil_log2(n));
      for (int tree : {0, 1}) ++at_depth[tree][static_cast<std::size_t>(node_of_tree(tree, rank, n).depth)];
    }
    EXPECT_EQ(at_depth[0], at_depth[1]) << "n " << n;
    for (int rank = 0; rank < n; ++rank)
      ASSERT_EQ(times_a_child[static_cast<std::size_t>(rank)], rank == root_of_tree(1, n) ? 0 : 1);
  }
}

TEST(TwoBinaryTrees, EveryRankIsInnerInOneAndRankZeroOfAnOddNumberInBoth) {
  for (int n = 2; n <= largest_n; ++n) {
    for (int rank = 0; rank < n; ++rank) {
      std::size_t inner = 0, children = 0;
      for (int tree : {0, 1}) {
        const BinaryNode node = node_of_tree(tree, rank, n);
        inner += node.children.empty() ? 0 : 1;
        children += node.children.size();
      }
      ASSERT_EQ(inner, n % 2 == 1 && rank == 0 ? 2u : 1u) << "n " << n << " rank " << rank;
      ASSERT_LE(children, 2u) << "together they load every rank alike";
    }
  }
}

TEST(TwoBinaryTrees, TheSecondOfEightAndOfFive) {
  const auto parents = [](int n) {
    std::vector<int> all;
    for (int rank = 0; rank < n; ++rank) all.push_back(second_binary_node(rank, n).parent);
    return all;
  };
  EXPECT_EQ(parents(8), (std::vector{1, 3, 1, 7, 5, 3, 5, -1}));  // the mirror of 0 -> 4 -> {2, 6} -> ...
  EXPECT_EQ(parents(5), (std::vector{1, -1, 3, 0, 3}));           // 1 -> 0 -> 3 -> {2, 4}
}

TEST(BinaryTree, TheTreeOfEightAndOfSix) {
  const auto parents = [](int n) {
    std::vector<int> all;
    for (int rank = 0; rank < n; ++rank) all.push_back(binary_node(rank, n).parent);
    return all;
  };
  EXPECT_EQ(parents(8), (std::vector{-1, 2, 4, 2, 0, 6, 4, 6}));
  EXPECT_EQ(parents(6), (std::vector{-1, 2, 4, 2, 0, 4}));
}

}  // namespace
}  // namespace dist
