// Lab 11, parts 1 and 2: are these NCCL's trees?
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "judge/team.h"
#include "support.h"

namespace lab11 {
namespace {

using dist::BinaryNode, dist::binary_node, dist::second_binary_node, judge::misconception;

using PlaceOf = std::function<BinaryNode(int rank, int n)>;

struct TreeIdea {
  const char *call, *name, *in_words;
  PlaceOf place;
};

// The first tree with other ranks in its places.
BinaryNode renamed(int rank, int n, const std::function<int(int)>& place_of,
                   const std::function<int(int)>& rank_at) {
  BinaryNode node = binary_node(place_of(rank), n);
  if (node.parent >= 0) node.parent = rank_at(node.parent);
  for (int& child : node.children) child = rank_at(child);
  return node;
}
BinaryNode mirrored(int rank, int n) {
  const auto mirror = [=](int r) { return n - 1 - r; };
  return renamed(rank, n, mirror, mirror);
}
BinaryNode shifted(int rank, int n, int by) {
  return renamed(
      rank, n, [=](int r) { return (r - by + n) % n; }, [=](int p) { return (p + by) % n; });
}

// The tree that is numbered row by row.
BinaryNode heap_node(int rank, int n) {
  BinaryNode node;
  node.parent = rank == 0 ? -1 : (rank - 1) / 2;
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < n) node.children.push_back(child);
  }
  return node;
}

BinaryNode without_stand_in(int rank, int n) {
  BinaryNode node = binary_node(rank, n);
  const int half = (rank & -rank) / 2;
  if (rank > 0) std::erase_if(node.children, [&](int child) { return child > rank && child != rank + half; });
  return node;
}

BinaryNode parent_beyond(int rank, int n) {
  BinaryNode node = binary_node(rank, n);
  const int bit = rank & -rank;
  if (rank > 0) node.parent = (rank ^ bit) | (2 * bit);
  return node;
}

const std::vector<TreeIdea>& tree_ideas() {
  static const std::vector<TreeIdea> known{
      {"first_tree", "heap_for_in_order",
       "this is lab 10's tree: a good one, but not NCCL's, whose subtrees are runs of neighbouring ranks",
       heap_node},
      {"first_tree", "right_child_lost",
       "if rank + bit / 2 does not exist, its first descendant that exists takes its place; fix: keep "
       "halving until the rank exists",
       without_stand_in},
      {"first_tree", "parent_that_does_not_exist",
       "if the rank with the next higher bit does not exist, the parent is the rank without its lowest bit",
       parent_beyond},
      {"second_tree", "same_tree_twice",
       "this is the first tree once more: the same ranks are inner ranks in both trees and send three times "
       "the data, while the others are idle",
       [](int rank, int n) { return binary_node(rank, n); }},
      {"second_tree", "mirrored_for_odd_n",
       "for odd n the mirror image leaves the middle rank in the same place in both trees, and some ranks "
       "are inner ranks twice; fix: shift by one instead",
       mirrored},
      {"second_tree", "shifted_for_even_n",
       "for even n the second tree must be the mirror image of the first",
       [](int rank, int n) { return shifted(rank, n, 1); }},
      {"second_tree", "shifted_the_wrong_way",
       "the tree is shifted the wrong way; fix: give rank r the place of r - 1, so that place p belongs to "
       "rank p + 1, and rank 1 is the root",
       [](int rank, int n) { return shifted(rank, n, n - 1); }},
      {"second_tree", "places_for_ranks",
       "the parent and the children that the first tree returns are places; fix: convert them to the ranks "
       "that have these places",
       [](int rank, int n) { return binary_node(n % 2 == 0 ? n - 1 - rank : (rank - 1 + n) % n, n); }}};
  return known;
}

bool is_same(const BinaryNode& right, const Json& got) {
  std::vector<int> children = got.at("children"), expected = right.children;
  std::ranges::sort(children);
  std::ranges::sort(expected);
  return got.at("parent") == right.parent && children == expected;
}

// The wrong idea that the trees of all sizes fit, if there is one.
void diagnose(const std::string& call, const std::vector<int>& sizes, const Json& trees) {
  for (const TreeIdea& idea : tree_ideas()) {
    if (idea.call != call) continue;
    bool fits = true;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (int rank = 0; rank < sizes[i]; ++rank)
        fits = fits && is_same(idea.place(rank, sizes[i]), trees.at(i).at(static_cast<std::size_t>(rank)));
    }
    if (fits) return misconception(idea.name, idea.in_words);
  }
}

Json ask(const std::string& call, const std::vector<int>& sizes) {
  judge::Team team(judge::runner(), 1);
  team.start_all({{{"call", call}, {"sizes", sizes}}});
  const auto outcomes = team.finish();
  if (!judge::has_completed(outcomes[0], call)) return Json::array();
  const Json trees = judge::value_of(outcomes[0].reply, call);
  return trees.is_null() ? Json::array() : trees;
}

}  // namespace

void expect_trees(const std::string& call, const std::vector<int>& sizes) {
  const Json trees = ask(call, sizes);
  const auto right_place = call == "first_tree" ? binary_node : second_binary_node;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (int rank = 0; rank < sizes[i]; ++rank) {
      const Json& got = trees[i].at(static_cast<std::size_t>(rank));
      const auto right = right_place(rank, sizes[i]);
      if (is_same(right, got)) continue;
      diagnose(call, sizes, trees);
      ADD_FAILURE() << fmt::format(
          "{}({}, {}) returned parent {}, children {{{}}}; expected parent {}, children {{{}}}", call, rank,
          sizes[i], got.at("parent").get<int>(), fmt::join(got.at("children").get<std::vector<int>>(), ", "),
          right.parent, fmt::join(right.children, ", "));
      return;
    }
  }
}

void expect_inner_in_one(const std::vector<int>& sizes) {
  const Json first = ask("first_tree", sizes);
  if (first.empty()) return;
  const Json second = ask("second_tree", sizes);
  for (std::size_t i = 0; i < second.size(); ++i) {
    for (int rank = 0; rank < sizes[i]; ++rank) {
      const auto of_rank = static_cast<std::size_t>(rank);
      const auto in_first = first[i].at(of_rank).at("children").size(),
                 in_second = second[i].at(of_rank).at("children").size();
      if ((in_first > 0) != (in_second > 0) && in_first + in_second <= 2) continue;
      diagnose("second_tree", sizes, second);
      ADD_FAILURE() << fmt::format(
          "n = {}: rank {} has {} children in the first tree and {} in the second; expected one or two "
          "children in one of them and none in the other",
          sizes[i], rank, in_first, in_second);
      return;
    }
  }
}

bool has_right_trees(int n) {
  for (const auto* call : {"first_tree", "second_tree"}) {
    const Json trees = ask(call, {n});
    const auto right_place = call == std::string("first_tree") ? binary_node : second_binary_node;
    for (int rank = 0; rank < n && !trees.empty(); ++rank)
      if (!is_same(right_place(rank, n), trees[0].at(static_cast<std::size_t>(rank)))) return false;
  }
  return true;
}

}  // namespace lab11
