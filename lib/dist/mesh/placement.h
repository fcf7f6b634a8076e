// Placements: what each rank has of a DTensor, as in torch.distributed.tensor, and what it costs to change
// them. A tensor has one placement for each axis of its mesh.
//
// Each change along one axis of the mesh, of n ranks, is one move; S is the size in bytes of what their line
// has together. Bytes are what each rank sends with the ring (all_to_all: by any algorithm that sends
// directly) where n divides the sizes; where it does not, they are the mean over the ranks.
//
//   from \ to    Shard(e)                       Replicate()              Partial(sum)
//   Shard(d)     all_to_all, (n-1)/n^2 S        all_gather, (n-1)/n S    none: zeros around the shard
//   Replicate()  none: a copy of the part       -                        none: the first rank keeps it
//   Partial(op)  reduce_scatter, (n-1)/n S      all_reduce, 2(n-1)/n S   -
//
// The last column is for sum. As Partial of avg, min or max the first rank's values serve for every rank; of
// product, the other ranks have ones; a Shard becomes Replicate first. One Partial never becomes another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/core/types.h"

namespace dist {

// Each rank has its part of a tensor axis, as torch_chunk() divides it: 6 rows on 4 ranks are 2, 2, 2, 0.
// Several axes of the mesh can shard one tensor axis: each divides what those before it have left.
struct Shard {
  constexpr explicit Shard(std::int64_t of) : axis(of) {}
  std::int64_t axis;  // of the tensor; negative: from the back
  friend constexpr bool operator==(const Shard&, const Shard&) = default;
};
// Every rank has all of it.
struct Replicate {
  friend constexpr bool operator==(const Replicate&, const Replicate&) = default;
};
// Every rank has as many elements as the tensor; the tensor is their reduction, which is still to be done.
// The operation is sum, avg, product, min or max.
struct Partial {
  constexpr explicit Partial(ReduceOp with = ReduceOp::sum) : op(with) {}
  ReduceOp op;
  friend constexpr bool operator==(const Partial&, const Partial&) = default;
};

using Placement = std::variant<Shard, Replicate, Partial>;
using Placements = std::vector<Placement>;  // one for each axis of the mesh

std::string to_string(const Placement& placement);  // "Shard(0)", "Replicate()", "Partial(sum)"

// The part that one rank has of a tensor: its sizes, and where it begins along each axis.
struct LocalPart {
  Shape shape;   // without elements where no part is left for the rank
  Shape offset;  // the size of the tensor's axis where it is empty
};
// The part that the rank with this coordinate has of a tensor of this shape on a mesh with `mesh_shape`.
LocalPart local_part(const Shape& shape, const Shape& mesh_shape, const Placements& placements,
                     const std::vector<int>& coordinate);

// One change along one axis of the mesh: the header's table.
struct Move {
  std::size_t mesh_axis;
  Placement from, to;
};
// The moves, in order, that change placements. A tensor axis that two axes of the mesh divide is joined from
// the last one to the first, and divided from the first to the last, so that every part ends where it
// belongs.
std::vector<Move> plan_moves(const Placements& from, const Placements& to);

}  // namespace dist
