// Lab 10, part 1: is it a tree?
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "judge/team.h"
#include "support.h"

namespace lab10 {
namespace {

using judge::misconception;

struct Places {
  int n;
  const Json& of;  // [rank]
  int parent(int rank) const { return of.at(static_cast<std::size_t>(rank)).at("parent"); }
  std::vector<int> children(int rank) const { return of.at(static_cast<std::size_t>(rank)).at("children"); }
  std::string text(int rank) const {
    return fmt::format("tree_place({}, {}) returned parent {}, children {{{}}}", rank, n, parent(rank),
                       fmt::join(children(rank), ", "));
  }
};

// Describes what is wrong with the place of one rank; "" if nothing is.
std::string wrong_place(const Places& tree, int rank) {
  const int parent = tree.parent(rank);
  const auto children = tree.children(rank);
  if (rank == 0 && parent != -1) return "the root, rank 0, must have parent -1";
  if (rank > 0 && (parent < 0 || parent >= tree.n)) return "the parent must be an existing rank";
  if (rank > 0 && std::ranges::count(tree.children(parent), rank) != 1) {
    misconception("parent_and_children_disagree",
                  "parent and children must agree, because otherwise a rank waits for a message that the "
                  "other one never sends; fix: make every rank the parent of each of its children");
    return fmt::format("its parent's children are {{{}}}, which must contain {} once",
                       fmt::join(tree.children(parent), ", "), rank);
  }
  for (const int child : children) {
    if (child < 0 || child >= tree.n) {
      misconception(
          "children_that_do_not_exist",
          "the last row of the tree may be incomplete; fix: leave out children that are not below n");
      return fmt::format("children must be ranks from 0 to {}", tree.n - 1);
    }
    if (tree.parent(child) == rank && child != rank) continue;
    misconception("parent_and_children_disagree",
                  "parent and children must agree, because otherwise a rank waits for a message that the "
                  "other one never sends; fix: make every rank the parent of each of its children");
    return fmt::format("the parent of {} is {}; it must be {}", child, tree.parent(child), rank);
  }
  if (children.size() <= 2) return "";
  misconception("too_many_children",
                "a rank receives from all its children through one port; fix: give it two children at most");
  return "a rank must have two children at most";
}

// The number of links up to the root; n if the path does not end.
int links_to_root(const Places& tree, int rank) {
  int links = 0;
  while (rank != 0 && links < tree.n) rank = tree.parent(rank), ++links;
  return links;
}

bool is_tree(const Places& tree) {
  for (int rank = 0; rank < tree.n; ++rank) {
    const auto wrong = wrong_place(tree, rank);
    if (wrong.empty()) continue;
    ADD_FAILURE() << tree.text(rank) << "; " << wrong;
    return false;
  }
  int deepest = 0, depth = 0;
  for (int rank = 0; rank < tree.n; ++rank) {
    const int links = links_to_root(tree, rank);
    if (links > depth) deepest = rank, depth = links;
  }
  if (depth <= ceil_log2(tree.n)) return true;
  if (depth == tree.n - 1) {
    misconception("chain_for_a_tree",
                  "each rank has one child, so this is a chain with n - 1 links; fix: give each rank two "
                  "children, so that each level has twice as many ranks as the level above");
  } else {
    misconception("tree_too_deep", "some branches are much longer than others; fix: fill level after level");
  }
  ADD_FAILURE() << fmt::format("n = {}: from rank {} there are {} links up to the root; expected at most {}",
                               tree.n, deepest, depth == tree.n ? "endless" : fmt::format("{}", depth),
                               ceil_log2(tree.n));
  return false;
}

}  // namespace

void expect_trees(const std::vector<int>& sizes) {
  judge::Team team(judge::runner(), 1);
  team.start_all({{{"call", "tree_place"}, {"sizes", sizes}}});
  const auto outcomes = team.finish();
  if (!judge::has_completed(outcomes[0], "tree_place")) return;
  const Json trees = judge::value_of(outcomes[0].reply, "tree_place");
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!is_tree({sizes[i], trees[i]})) return;
  }
}

}  // namespace lab10
