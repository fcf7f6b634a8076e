// DTensor: one tensor on the ranks of a mesh, as torch.distributed.tensor's: this rank's local tensor, the
// mesh, and a placement for each of its axes (placement.h). Data only: layers and optimizers work on the
// local tensors.
//
//   const DTensor rows = distribute_tensor(weight, mesh, {Replicate(), Shard(0)});
//   const Tensor all = rows.full_tensor();
//
// Where a call says that it communicates, every rank of the mesh must make it, in the same order. A rank
// outside the mesh may make it, too: it has no elements and does nothing. A call that is refused throws
// Error{invalid_argument}, which names the caller's line.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "dist/core/tensor.h"
#include "dist/mesh/device_mesh.h"
#include "dist/mesh/placement.h"

namespace dist {

// A handle, cheap to copy; copies share the elements of the local tensor.
class DTensor {
 public:
  // A DTensor of which `local` is this rank's part. Copies nothing. `shape` is that of the whole tensor;
  // without it, every sharded axis is taken to be that of `local` times the ranks that divide it.
  // Communicates: one small exchange along each axis, after which every rank throws Error{mismatch} if one
  // has another whole shape, dtype or placement. Throws if the shape of `local` is not that of this rank's
  // part.
  static DTensor from_local(Tensor local, const DeviceMesh& mesh, Placements placements,
                            std::optional<Shape> shape = {}, Caller at = Caller::here());

  const Shape& shape() const { return shape_; }                 // of the whole tensor
  DType dtype() const { return local_.dtype(); }                // the type of each element
  Device device() const { return local_.device(); }             // where the local tensor is
  const DeviceMesh& mesh() const { return mesh_; }              // the ranks
  const Placements& placements() const { return placements_; }  // one for each axis of the mesh
  const Tensor& to_local() const { return local_; }             // this rank's part; shares its elements
  LocalPart local_part() const;                                 // where that part is in the whole tensor

  // The same tensor with other placements; shares the local tensor if they do not change. Communicates as
  // placement.h's table says, along each axis of the mesh that changes, and where axes divide one tensor
  // axis, along those after it.
  DTensor redistribute(const Placements& placements, Caller at = Caller::here()) const;
  // The whole tensor, on every rank: the local tensor of redistribute({Replicate(), ...}). Communicates.
  Tensor full_tensor(Caller at = Caller::here()) const;
  std::string str() const;  // "DTensor([6, 4] f32; dp=2: Shard(0), tp=2: Replicate(); local [3, 4])"

 private:
  DTensor(Tensor local, const DeviceMesh& mesh, Placements placements, Shape shape)
      : local_(std::move(local)), mesh_(mesh), placements_(std::move(placements)), shape_(std::move(shape)) {}
  friend DTensor distribute_tensor(const Tensor&, const DeviceMesh&, Placements, std::optional<int>, Caller);
  void compare_replicas(Caller at) const;
  Tensor local_;
  DeviceMesh mesh_;
  Placements placements_;
  Shape shape_;
};

// Places `t`, which every rank passes in the same shape, on the mesh; no placement is Partial. Communicates:
// first one small exchange along each axis of the mesh, as from_local(); then, along each axis, the rank with
// the number `src_data_rank` scatters (Shard) or broadcasts (Replicate) its values. Without that number every
// rank takes its part of its own `t`, which must have equal values on all (D13), and sends nothing more.
DTensor distribute_tensor(const Tensor& t, const DeviceMesh& mesh, Placements placements,
                          std::optional<int> src_data_rank = 0, Caller at = Caller::here());

}  // namespace dist
