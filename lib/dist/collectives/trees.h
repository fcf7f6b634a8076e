// Trees over the ranks of a group, as index arithmetic: every rank knows every rank's parent and children
// without a message. `rank` and `root` are group ranks, 0 to n-1.
#pragma once

#include <array>
#include <vector>

namespace dist {

inline constexpr int no_rank = -1;

// ceil(log2 n), 0 for n = 1: the rounds in which the data of one rank can reach n ranks, when every rank that
// has it passes it on.
int ceil_log2(int n);
// The highest power of two that is <= n, for n >= 1.
int floor_pow2(int n);

// One rank's place in the binomial tree over n ranks rooted at `root`.
//
// Number the ranks from the root on: v = (rank - root) mod n. Clearing the lowest set bit of v gives its
// parent, and the subtree of v is the contiguous run v, v+1, ..., v+span-1; so whole subtrees travel as one
// block in a scatter or gather. Depth and rounds: ceil(log2 n).
//
//   n = 8:   0 -> 4, 2, 1     4 -> 6, 5     2 -> 3     6 -> 7
struct BinomialNode {
  struct Child {
    int rank;    // group rank
    int offset;  // its v minus this node's v: where its subtree begins in this node's run
    int span;    // ranks in its subtree
  };
  int parent = no_rank;         // group rank; no_rank at the root
  int span = 1;                 // ranks in this node's subtree, including itself
  std::vector<Child> children;  // largest subtree first, the order in which a broadcast must serve them

  bool is_root() const { return parent == no_rank; }
  bool is_leaf() const { return children.empty(); }
};
BinomialNode binomial_node(int rank, int root, int n);

// One rank's place in the in-order binary tree over n ranks, rooted at 0.
//
// A rank's height is its number of trailing zero bits; its children differ from it by half of its lowest set
// bit to either side, so that the leaves are the odd ranks and subtrees are neighbours in rank order. Rank 0
// has a single child, the highest power of two below n. Where the right child would lie beyond n, its first
// descendant that exists takes its place. Depth <= ceil(log2 n), at most two children. (The first tree of
// Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009; the
// shape NCCL uses between nodes.)
//
//   n = 8:   0 -> 4     4 -> 2, 6     2 -> 1, 3     6 -> 5, 7
struct BinaryNode {
  int parent = no_rank;       // no_rank at the root
  int depth = 0;              // links up to the root
  std::vector<int> children;  // zero, one or two; ascending
};
BinaryNode binary_node(int rank, int n);

// One rank's place in the second tree of a pair whose first is binary_node(): the same shape over
// other ranks, so that a rank that is inner (has children) in one tree is a leaf in the other, and the two
// trees together load every rank equally. (Sanders, Speck, Traeff 2009; NCCL since 2.4.)
//
// n even: the mirror image, rank r at the place of n-1-r, root n-1: every rank is inner in exactly one tree.
// n odd: shifted by one, rank r at the place of r-1 mod n, root 1: only rank 0 is inner in both, with one
// child in each.
//
//   n = 8:   7 -> 3     3 -> 5, 1     5 -> 6, 4     1 -> 2, 0
BinaryNode second_binary_node(int rank, int n);

// A place in a tree with the colours, 0 or 1, of its edges: the edges between a rank and its children have
// different colours, so that in each time slot the rank sends one message to a child and receives one from a
// child.
struct ColouredNode {
  BinaryNode place;
  int to_parent = 0;             // the colour of the edge to the parent; unused at the root
  std::vector<int> to_children;  // the colours of the edges to place.children
};
// The place in binary_node(): edges to the lower children have colour 0, to the higher ones 1.
ColouredNode coloured_node(int rank, int n);
// The places in binary_node() and second_binary_node(). Here the edges to a rank's two parents also have
// different colours, and so do those to its children in both trees: as every edge has two directions, each
// rank receives one message and sends one in each of four phases. (Sanders, Speck, Traeff 2009, section 4.)
// Takes O(n) time.
std::array<ColouredNode, 2> coloured_pair(int rank, int n);

}  // namespace dist
