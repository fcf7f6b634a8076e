#include "dist/collectives/trees.h"

#include <algorithm>
#include <bit>

#include "dist/core/view.h"

namespace dist {

namespace {

int lowest_bit(int v) { return v & -v; }

int binary_parent(int rank, int n) {
  const int bit = lowest_bit(rank), below = rank ^ bit, above = below | (bit << 1);
  return above < n ? above : below;
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

}  // namespace dist
