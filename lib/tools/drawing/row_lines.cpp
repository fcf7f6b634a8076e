#include "drawing/row_lines.h"

#include <algorithm>

namespace dist::trace {
namespace {

// The first line that is still free, for each column's sign and for the gap to its right, and the first that
// keeps the order of what happens at a rank.
struct FreeLines {
  std::vector<int> column, gap, order;
};

int line_of_text(FreeLines& free, std::size_t rank) {
  const int line = std::max({free.column[rank], free.gap[rank], free.order[rank]});
  free.column[rank] = free.gap[rank] = line + 1;
  free.order[rank] = line;
  return line;
}

// An arrow ends before its rank's column, which thereby stays free for what follows from it.
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
