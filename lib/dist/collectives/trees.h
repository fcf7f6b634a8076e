// Trees over the ranks of a group, as index arithmetic: who is whose parent, known to every rank without a
// message.
#pragma once

#include <array>
#include <vector>

namespace dist {

inline constexpr int no_rank = -1;

// ceil(log2 n): the rounds in which one rank can reach n ranks, when each that was reached helps. 0 for n
// = 1.
int ceil_log2(int n);
// Highest power of two that is <= n; n >= 1.
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
  int span = 1;                 // ranks in this node's subtree, itself included
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

// One rank's place in the second tree of a pair of which binary_node() is the first: the same shape over
// other ranks, so that those that are inner (have children) in one tree are leaves in the other, and both
// trees together load every rank alike. (Sanders, Speck, Traeff 2009; NCCL since 2.4.)
//
// n even: the mirror image, rank r in the place of n-1-r, root n-1: every rank is inner in exactly one tree.
// n odd: shifted by one, rank r in the place of r-1 mod n, root 1: only rank 0 is inner in both, with one
// child in each.
//
//   n = 8:   7 -> 3     3 -> 5, 1     5 -> 6, 4     1 -> 2, 0
BinaryNode second_binary_node(int rank, int n);

// Such a place with the colours, 0 or 1, of its edges: the edges between a rank and its children have
// different ones, so that one message a time goes to a child and comes from a child.
struct ColouredNode {
  BinaryNode place;
  int to_parent = 0;             // the edge's colour; at the root without meaning
  std::vector<int> to_children;  // of the edges to place.children
};
// Of binary_node(): lower children 0, higher ones 1.
ColouredNode coloured_node(int rank, int n);
// Of binary_node() and second_binary_node(). Here also the edges to a rank's two parents have different
// colours, and those to its children in both trees: with the two ways of an edge each rank has a message in
// and a message out for each of four phases. (Sanders, Speck, Traeff 2009, section 4.) Work: O(n).
std::array<ColouredNode, 2> coloured_pair(int rank, int n);

}  // namespace dist
