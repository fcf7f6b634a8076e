#include "dist/collectives/ring_2d.h"

#include <vector>

#include "dist/collectives/chunks.h"
#include "dist/core/kernels.h"

namespace dist {

int rows_of_grid(int n) {
  int rows = 1;
  for (int candidate = 2; candidate * candidate <= n; ++candidate)
    if (n % candidate == 0) rows = candidate;
  return rows;
}

void two_ring_all_reduce(Transport& net, const Ring& within, const Ring& across, TensorView data,
                         ReduceOp op) {
  const Chunks chunks{data, within.size};
  ring_reduce_scatter_chunks(net, within, chunks, op);
  ring_all_reduce(net, across, chunks[within.place], op);
  ring_all_gather_chunks(net, within, chunks);
}

namespace {

// The rings of this rank's row and column.
struct Grid {
  explicit Grid(const Transport& net) {
    const int n = net.size(), rows = rows_of_grid(n), columns = n / rows;
    const int row = net.rank() / columns, column = net.rank() % columns;
    const auto rank_at = [&](int r, int c) { return mod(r, rows) * columns + mod(c, columns); };
    along_row = {columns, column, rank_at(row, column - 1), rank_at(row, column + 1)};
    along_column = {rows, row, rank_at(row - 1, column), rank_at(row + 1, column)};
  }
  Ring along_row, along_column;
};

// The parts of consecutive ranks in one piece of memory, one after the other.
std::vector<TensorView> cut_like(std::span<const TensorView> parts, const TensorView& memory) {
  std::vector<TensorView> cut;
  std::int64_t begin = 0;
  for (const TensorView& part : parts) {
    cut.push_back(memory.slice(begin, part.count));
    begin += part.count;
  }
  return cut;
}

std::int64_t count_of(std::span<const TensorView> parts) {
  std::int64_t count = 0;
  for (const TensorView& part : parts) count += part.count;
  return count;
}

}  // namespace

void ring_2d_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  const Grid grid(net);
  two_ring_all_reduce(net, grid.along_row, grid.along_column, data, op);
}

void ring_2d_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op) {
  const Grid grid(net);
  if (grid.along_column.size == 1) return ring_reduce_scatter(net, grid.along_row, ins, out, op);
  const auto columns = static_cast<std::size_t>(grid.along_row.size);
  const Scratch packed = net.scratch(ins[0], count_of(ins));
  const std::vector<TensorView> parts = cut_like(ins, packed.all());
  for (std::size_t i = 0; i < ins.size(); ++i) copy(parts[i], ins[i]);
  std::vector<TensorView> rows;
  for (std::size_t first = 0; first < ins.size(); first += columns) {
    rows.push_back(parts[first]);
    rows.back().count = count_of(ins.subspan(first, columns));
  }
  const auto row = static_cast<std::size_t>(grid.along_column.place);
  const Scratch mine = net.scratch(ins[0], rows[row].count);
  ring_reduce_scatter(net, grid.along_column, rows, mine.all(), op);
  ring_reduce_scatter(net, grid.along_row, cut_like(ins.subspan(row * columns, columns), mine.all()), out,
                      op);
}

}  // namespace dist
