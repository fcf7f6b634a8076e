// For mutants of the tree: the solution's binomial tree, with other sizes of subtrees and another order of
// children. It must be included after the solution.
#pragma once

namespace lab {

// The relative ranks of a binomial tree of n.
struct Node {
  int place, bit, subtree;
};

inline Node node_of(const Places& places) {
  const int place = places.place_of(dist::get_rank());
  int bit = 1;
  while (bit < places.n && (place & bit) == 0) bit *= 2;
  return {place, bit, std::min(bit, places.n - place)};
}

// The distances of its children, the largest first.
inline std::vector<int> children_of(const Node& node) {
  std::vector<int> distances;
  for (int distance = node.bit / 2; distance > 0; distance /= 2) {
    if (distance < node.subtree) distances.push_back(distance);
  }
  return distances;
}

}  // namespace lab
