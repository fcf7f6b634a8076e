// The trees of trees.h. The in-order binary tree is index arithmetic (binary_parent, binary_node), and the
// second tree is its mirror image or shifted (second_binary_node). TreeEdge and colour_of() colour the edges
// of the pair of trees.
#include "dist/collectives/trees.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <optional>

#include "dist/core/view.h"

namespace dist {

namespace {

int lowest_bit(int v) { return v & -v; }

int binary_parent(int rank, int n) {
  const int bit = lowest_bit(rank), below = rank ^ bit, above = below | (bit << 1);
  return above < n ? above : below;
}

// An edge of a pair of trees, named by the tree and the rank at its lower end.
struct TreeEdge {
  int tree, child;
  friend auto operator<=>(const TreeEdge&, const TreeEdge&) = default;
};

BinaryNode node_of(int tree, int rank, int n) {
  return tree == 0 ? binary_node(rank, n) : second_binary_node(rank, n);
}

// The edge that must have another colour because it shares the lower end with e, or the upper end. nullopt:
// there is none.
std::optional<TreeEdge> with_same_child(const TreeEdge& e, int n) {
  const TreeEdge other{1 - e.tree, e.child};
  if (node_of(other.tree, other.child, n).parent == no_rank) return std::nullopt;
  return other;
}
std::optional<TreeEdge> with_same_parent(const TreeEdge& e, int n) {
  const int parent = node_of(e.tree, e.child, n).parent;
  for (int tree : {0, 1})
    for (int child : node_of(tree, parent, n).children)
      if (const TreeEdge other{tree, child}; other != e) return other;
  return std::nullopt;
}

// Edges that must differ form paths and cycles of even length, because each has at most two such others. An
// edge's colour is the parity of its distance from the least edge of its path.
int colour_of(const TreeEdge& e, int n) {
  TreeEdge least = e;
  int distance = 0;
  for (bool first_by_child : {false, true}) {
    std::optional<TreeEdge> at = e;
    bool by_child = first_by_child;
    for (int steps = 1; (at = by_child ? with_same_child(*at, n) : with_same_parent(*at, n)) && at != e;
         ++steps, by_child = !by_child)
      if (*at < least) least = *at, distance = steps;
  }
  return distance % 2;
}

}  // namespace

int ceil_log2(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }

int floor_pow2(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }

BinomialNode binomial_node(int rank, int root, int n) {
  const int v = mod(rank - root, n);
  const int reach = v == 0 ? 1 << ceil_log2(n) : lowest_bit(v);  // the subtree, before n cuts it off
  BinomialNode node;
  if (v != 0) node.parent = mod(v - lowest_bit(v) + root, n);
  node.span = std::min(reach, n - v);
  for (int bit = reach / 2; bit > 0; bit /= 2)
    if (bit < node.span) node.children.push_back({mod(rank + bit, n), bit, std::min(bit, node.span - bit)});
  return node;
}

BinaryNode binary_node(int rank, int n) {
  BinaryNode node;
  if (rank == 0) {
    if (n > 1) node.children.push_back(floor_pow2(n - 1));
    return node;
  }
  node.parent = binary_parent(rank, n);
  for (int r = rank; r != 0; r = binary_parent(r, n)) ++node.depth;
  int half = lowest_bit(rank) / 2;
  if (half == 0) return node;
  node.children.push_back(rank - half);
  while (half > 0 && rank + half >= n) half /= 2;
  if (half > 0) node.children.push_back(rank + half);
  return node;
}

BinaryNode second_binary_node(int rank, int n) {
  const bool mirrored = n % 2 == 0;
  const auto place_of = [&](int r) { return mirrored ? n - 1 - r : mod(r - 1, n); };
  const auto rank_at = [&](int place) { return mirrored ? n - 1 - place : mod(place + 1, n); };
  BinaryNode node = binary_node(place_of(rank), n);
  if (node.parent != no_rank) node.parent = rank_at(node.parent);
  for (int& child : node.children) child = rank_at(child);
  std::ranges::sort(node.children);
  return node;
}

ColouredNode coloured_node(int rank, int n) {
  ColouredNode node{.place = binary_node(rank, n), .to_parent = 0, .to_children = {}};
  node.to_parent = rank > node.place.parent ? 1 : 0;
  for (int child : node.place.children) node.to_children.push_back(child > rank ? 1 : 0);
  return node;
}

std::array<ColouredNode, 2> coloured_pair(int rank, int n) {
  std::array<ColouredNode, 2> pair;
  for (int tree : {0, 1}) {
    ColouredNode& node = pair[static_cast<std::size_t>(tree)];
    node.place = node_of(tree, rank, n);
    if (node.place.parent != no_rank) node.to_parent = colour_of({tree, rank}, n);
    for (int child : node.place.children) node.to_children.push_back(colour_of({tree, child}, n));
  }
  return pair;
}

}  // namespace dist
