// Trees over the ranks of a group, as index arithmetic: who is whose parent, known to every rank without a
// message.
#pragma once

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

}  // namespace dist
