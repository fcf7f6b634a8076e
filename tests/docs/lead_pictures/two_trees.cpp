// Left, the first tree of eight ranks and what each rank receives if it carries all data. Right, the second
// tree and what each rank receives if either carries one half.
#include <array>

#include "dist/collectives/trees.h"

#include "picture.h"
#include "sheet.h"

namespace dist::pictures {
namespace trees {
namespace {

constexpr int ranks = 8;
constexpr double width = 800, height = 300, half = width / 2, left = 56, step = 44;  // px
constexpr double top = 22, level = 38, radius = 13;
constexpr double floor = height - 30, unit = 26, bar = 24;  // unit: px of S bytes

double x_of(int rank, double origin) { return origin + left + step * rank; }

template <class Place>
void draw_tree(Sheet& sheet, double origin, Place place_of, const char* look, const char* edge) {
  const auto at = [&](int rank) {
    return std::pair(x_of(rank, origin), top + level * place_of(rank, ranks).depth);
  };
  for (int rank = 0; rank < ranks; ++rank)
    for (const int child : place_of(rank, ranks).children) {
      const auto [x1, y1] = at(rank);
      const auto [x2, y2] = at(child);
      sheet.line(edge, x1, y1, x2, y2);
    }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [x, y] = at(rank);
    const bool is_leaf = place_of(rank, ranks).children.empty();
    sheet.circle(is_leaf ? fmt::format("{} leaf", look) : look, x, y, radius);
    sheet.text("middle strong", x, y, fmt::format("{}", rank));
  }
}

// How often a rank receives all data of a tree: partial sums of its children, and the result.
int receives(const BinaryNode& place) {
  return static_cast<int>(place.children.size()) + (place.parent == no_rank ? 0 : 1);
}

void draw_bars(Sheet& sheet, double origin, bool has_second) {
  for (int s = 0; s <= 3; ++s) {
    const double y = floor - unit * s;
    sheet.line("rail", origin + left - 22, y, origin + half - 10, y);
    if (s > 0) sheet.text("end", origin + left - 26, y, s == 1 ? "S" : fmt::format("{} S", s));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const double x = x_of(rank, origin);
    const double share = has_second ? unit / 2 : unit;  // px of what one tree carries
    const double first = share * receives(binary_node(rank, ranks));
    sheet.bar("a", x - bar / 2, floor - first, bar, first);
    if (has_second) {
      const double second = share * receives(second_binary_node(rank, ranks));
      sheet.bar("b", x - bar / 2, floor - first - second, bar, second);
    }
    sheet.text("middle", x, floor + 14, fmt::format("{}", rank));
  }
}

}  // namespace
}  // namespace trees

std::string two_trees() {
  using namespace trees;
  Sheet sheet(width, height, "Two trees of 8 ranks, and the bytes that each rank receives");
  draw_tree(sheet, 0, binary_node, "a", "la");
  draw_tree(sheet, half, second_binary_node, "b", "lb");
  draw_bars(sheet, 0, false);
  draw_bars(sheet, half, true);
  return sheet.svg();
}

}  // namespace dist::pictures
