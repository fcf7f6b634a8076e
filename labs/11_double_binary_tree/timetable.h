// Lab 11: the timetable of two trees. It belongs to the specification; do not change it.
//
// In one turn every link of both trees carries one segment up and one down. A turn has four phases: up on the
// links of colour 0, up on those of colour 1, down on colour 0, down on colour 1. The colours are chosen such
// that in each phase a rank sends at most one message and receives at most one: two links to the same parent
// have different colours, and so have the two links from one rank to its parents. If links that must differ
// are connected, they form paths and rings of even length. So the distance of a link from the smallest link
// of its path, odd or even, is a valid colour. (Sanders, Speck, Traeff: Two-tree algorithms for full
// bandwidth broadcast, reduction and scan, 2009.)
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "double_binary_tree.h"

namespace lab {
namespace timing {

// A link, given by its tree and by the rank at its lower end.
using Link = std::pair<int, int>;

inline Place place_in(int tree, int rank, int n) {
  return tree == 0 ? first_tree(rank, n) : second_tree(rank, n);
}

inline std::optional<Link> same_child(const Link& link, int n) {
  const Link other{1 - link.first, link.second};
  if (place_in(other.first, other.second, n).parent < 0) return std::nullopt;
  return other;
}

inline std::optional<Link> same_parent(const Link& link, int n) {
  const int parent = place_in(link.first, link.second, n).parent;
  for (const int tree : {0, 1}) {
    for (const int child : place_in(tree, parent, n).children) {
      if (const Link other{tree, child}; other != link) return other;
    }
  }
  return std::nullopt;
}

inline int colour_of(const Link& link, int n) {
  Link least = link;
  int distance = 0;
  for (const bool first_by_child : {false, true}) {
    bool by_child = first_by_child;
    std::optional<Link> at = link;
    for (int steps = 1; steps <= 2 * n;
         ++steps, by_child = !by_child) {  // bounded: wrong trees may contain cycles
      at = by_child ? same_child(*at, n) : same_parent(*at, n);
      if (!at || at == link) break;
      if (*at < least) least = *at, distance = steps;
    }
  }
  return distance % 2;
}

inline int depth_in(int tree, int rank, int n) {
  int depth = 0;
  for (int above = rank; depth < n && (above = place_in(tree, above, n).parent) >= 0;) ++depth;
  return depth;
}

}  // namespace timing

// A rank at depth d sends segment s up in turn s + D - d, and down in turn s + D + d.
inline std::array<Phase, 4> timetable(int rank, int n) {
  int levels = 0;
  while (1 << levels < n) ++levels;
  std::array<Phase, 4> phases;
  for (const int tree : {0, 1}) {
    const Place place = timing::place_in(tree, rank, n);
    const int depth = timing::depth_in(tree, rank, n);
    const auto phases_of = [&](int lower) {  // the phases, up and down, of the link above `lower`
      const int colour = timing::colour_of({tree, lower}, n);
      return std::pair<Phase&, Phase&>(phases[colour == 0 ? 0 : 1], phases[colour == 0 ? 2 : 3]);
    };
    if (place.parent >= 0) {
      const auto [up, down] = phases_of(rank);
      up.sends.push_back({tree, place.parent, true, levels - depth});
      down.receives.push_back({tree, place.parent, false, levels + depth - 1});
    }
    for (const int child : place.children) {
      const auto [up, down] = phases_of(child);
      up.receives.push_back({tree, child, true, levels - depth - 1});
      down.sends.push_back({tree, child, false, levels + depth});
    }
  }
  return phases;
}

}  // namespace lab
