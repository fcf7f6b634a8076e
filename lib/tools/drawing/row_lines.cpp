#include "drawing/row_lines.h"

#include <algorithm>

namespace dist::trace {
namespace {

// The first free line for the sign in each rank's column and for the gap to its right, and the first line
// that keeps the marks of a rank in order.
struct FreeLines {
  std::vector<int> column, gap, order;
};

int line_of_text(FreeLines& free, std::size_t rank) {
  const int line = std::max({free.column[rank], free.gap[rank], free.order[rank]});
  free.column[rank] = free.gap[rank] = line + 1;
  free.order[rank] = line;
  return line;
}

// An arrow ends before its rank's column, so that the column stays free for the marks that follow from it.
int line_of_arrow(FreeLines& free, std::size_t from, std::size_t to) {
  const auto [low, high] = std::minmax(from, to);
  int line = std::max(free.column[from], free.order[to]);
  for (std::size_t gap = low; gap < high; ++gap) line = std::max(line, free.gap[gap]);
  for (std::size_t gap = low; gap < high; ++gap) free.gap[gap] = line + 1;
  for (std::size_t crossed = low + 1; crossed < high; ++crossed) free.column[crossed] = line + 1;
  free.column[from] = line + 1;
  free.order[to] = line;
  return line;
}

}  // namespace

std::vector<int> lines_of(const Row& row, int ranks) {
  const std::vector<int> none(static_cast<std::size_t>(ranks), 0);
  FreeLines free{none, none, none};
  std::vector<int> lines;
  for (const Mark& mark : row.marks) {
    const auto rank = static_cast<std::size_t>(mark.rank);
    lines.push_back(mark.kind == MarkKind::arrow
                        ? line_of_arrow(free, static_cast<std::size_t>(mark.peer), rank)
                        : line_of_text(free, rank));
  }
  return lines;
}

}  // namespace dist::trace
