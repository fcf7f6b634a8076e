#include "dist/collectives/ring_2d.h"

#include "dist/collectives/chunks.h"

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

void ring_2d_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  const int rows = rows_of_grid(net.size()), columns = net.size() / rows;
  const int row = net.rank() / columns, column = net.rank() % columns;
  const auto rank_at = [&](int r, int c) { return mod(r, rows) * columns + mod(c, columns); };
  const Ring along_row{.size = columns,
                       .place = column,
                       .previous = rank_at(row, column - 1),
                       .next = rank_at(row, column + 1)};
  const Ring along_column{
      .size = rows, .place = row, .previous = rank_at(row - 1, column), .next = rank_at(row + 1, column)};
  two_ring_all_reduce(net, along_row, along_column, data, op);
}

}  // namespace dist
