#include "dist/mesh/placement.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/view.h"

namespace dist {

std::string to_string(const Placement& placement) {
  if (const Shard* const shard = std::get_if<Shard>(&placement)) return fmt::format("Shard({})", shard->axis);
  if (const Partial* const partial = std::get_if<Partial>(&placement))
    return fmt::format("Partial({})", name(partial->op.kind()));
  return "Replicate()";
}

LocalPart local_part(const Shape& shape, const Shape& mesh_shape, const Placements& placements,
                     const std::vector<int>& coordinate) {
  LocalPart part{shape, Shape(shape.size(), 0)};
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const Shard* const shard = std::get_if<Shard>(&placements[i]);
    if (!shard) continue;
    const auto axis = static_cast<std::size_t>(shard->axis);
    const std::int64_t size = part.shape[axis];
    const std::int64_t begin = torch_chunk_begin(size, coordinate[i], mesh_shape[i]);
    part.shape[axis] = torch_chunk_begin(size, coordinate[i] + 1, mesh_shape[i]) - begin;
    part.offset[axis] += begin;
  }
  return part;
}

namespace {

// The axes of the mesh before `end` that shard a tensor axis.
std::vector<std::size_t> sharding(const Placements& placements, std::int64_t axis, std::size_t end) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < end; ++i)
    if (placements[i] == Placement(Shard(axis))) found.push_back(i);
  return found;
}

}  // namespace

// The first loop takes the axes of the mesh from the last to the first. The axis that it takes is the last
// one that shards its tensor axis: if a later axis still sharded it, the axes before that one would be the
// same in `from` and `to`; the axis that is taken is among them, so it would stay as it is. The second loop
// takes the axes from the first to the last: those before the current one are as in `to`, and no later one
// shards its tensor axis.
std::vector<Move> plan_moves(const Placements& from, const Placements& to) {
  const std::size_t n = from.size();
  Placements now = from;
  std::vector<Move> moves;
  const auto move = [&](std::size_t i, const Placement& next) {
    if (now[i] != next) moves.push_back({i, now[i], next});
    now[i] = next;
  };
  for (std::size_t i = n; i-- > 0;) {
    const Shard* const had = std::get_if<Shard>(&from[i]);
    if (!had || (from[i] == to[i] && sharding(from, had->axis, i) == sharding(to, had->axis, i))) continue;
    const Shard* const wanted = std::get_if<Shard>(&to[i]);
    const bool at_once =
        wanted ? *wanted != *had && sharding(now, wanted->axis, n) == sharding(to, wanted->axis, i)
               : to[i] == Placement(Partial());
    move(i, at_once ? to[i] : Placement(Replicate()));
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!std::holds_alternative<Partial>(to[i])) move(i, to[i]);
  for (std::size_t i = 0; i < n; ++i) move(i, to[i]);  // last: no other reduction meets these ones or zeros
  return moves;
}

}  // namespace dist
