// DeviceMesh: ranks in a grid with named axes, one for each way in which work is divided, as
// torch.distributed.device_mesh. Along an axis the grid has lines; the ranks of each line are one process
// group, with which that axis communicates.
//
//   const DeviceMesh mesh = init_device_mesh({2, 4}, {"dp", "tp"});  // 8 ranks: 0 to 3 are a line of tp
//   all_reduce(gradient, {.group = mesh.get_group("dp")});
//   fully_shard(model, {.mesh = mesh["dp"]});
//
// A call that is refused throws Error{invalid_argument}, which names the caller's line.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace dist {

template <class T>
concept AxisName = std::convertible_to<T, std::string_view>;

// An axis of a mesh, by its name or its number (negative: from the back), with the caller's line.
struct MeshAxis {
  std::string name;  // empty: the number counts
  int number = 0;    // of an axis without a name
  Caller at;         // the line
  MeshAxis(const AxisName auto& of, Caller where = Caller::here()) : name(of), at(where) {}  // NOLINT
  MeshAxis(int of, Caller where = Caller::here()) : number(of), at(where) {}                 // NOLINT
};

// Names of axes: "tp" or {"dp", "tp"}, with the caller's line.
struct MeshAxes {
  std::vector<std::string> names;  // in the mesh's order
  Caller at;                       // the line
  MeshAxes(const AxisName auto& name, Caller where = Caller::here()) : names{name}, at(where) {}  // NOLINT
  MeshAxes(std::initializer_list<std::string_view> all, Caller where = Caller::here())            // NOLINT
      : names(all.begin(), all.end()), at(where) {}
};

// A handle on a mesh or on a slice of one, cheap to copy; slices share the groups of the mesh. A rank outside
// the mesh holds one too: its is_member() is false, and its groups refuse operations.
class DeviceMesh {
 public:
  DeviceMesh() = default;  // no mesh: false, and every other use throws
  // A mesh of these global ranks, in row-major order of `shape`; ranks may be permuted, or left out. EVERY
  // rank of the default group must make it, with the same arguments (else Error{mismatch} on all, which names
  // what differs): it blocks until all have. Makes one group for each line of the grid, by one split_group()
  // for each axis, and none where a line has the ranks of another group of the mesh, or of the default group,
  // in the same order.
  DeviceMesh(const std::vector<int>& ranks, const Shape& shape, const std::vector<std::string>& names,
             Caller at = Caller::here());

  explicit operator bool() const { return state_ != nullptr; }  // false for DeviceMesh{}
  bool is_member() const;                                       // whether this rank is in the mesh
  int dim() const { return static_cast<int>(axes_.size()); }    // the number of axes
  Shape shape() const;                                          // the number of ranks along each axis
  std::vector<std::string> names() const;                       // of the axes
  int size() const;                                             // the product of shape()
  int size(const MeshAxis& axis) const;                         // the number of ranks along an axis
  // The global ranks of this mesh in row-major order; of a slice: of the one with this rank. Empty for a rank
  // outside the mesh.
  std::vector<int> ranks() const;
  // This rank's number along each axis; empty for a rank outside the mesh.
  std::vector<int> get_coordinate() const;
  int get_local_rank(const MeshAxis& axis) const;  // this rank's number along an axis; -1 outside the mesh
  // The group of this rank's line along an axis; its group ranks are the numbers along the axis.
  ProcessGroup get_group(const MeshAxis& axis) const;
  ProcessGroup get_group(Caller at = Caller::here()) const;  // of a mesh of one axis

  std::vector<ProcessGroup> get_all_groups(Caller at = Caller::here()) const;  // of each axis

  // The slice with these axes that this rank is in. Makes no group, and needs no other rank's call.
  DeviceMesh operator[](const MeshAxes& axes) const;
  // A mesh of one axis, `name`, along which the ranks of these axes are in row-major order; mesh[name] finds
  // it, too. EVERY rank that made the mesh must call it, with the same arguments. The first call makes one
  // group for each line, a second one none.
  DeviceMesh flatten(const MeshAxes& axes, const std::string& name) const;

  // Destroys the groups that the mesh made, of all its slices, too, in reverse order; they end with the job
  // otherwise. Waits as destroy_process_group() does.
  void destroy(Caller at = Caller::here());
  std::string str() const;  // "dp=2, tp=4"

 private:
  struct State;
  State& state(CallSite at = {}) const;
  std::size_t find(const std::string& name, CallSite at) const;  // among the state's axes
  std::size_t find(const MeshAxis& axis) const;
  std::vector<std::size_t> along_all() const;  // the axes of the grid that this mesh's are made of
  std::shared_ptr<State> state_;
  std::vector<std::size_t> axes_;  // this mesh's, among those of the state
};

// A mesh of all ranks of the default group, in their order: rank 1 is the second along the last axis. EVERY
// rank must call it, with the same arguments. The product of `shape` must be the number of ranks.
DeviceMesh init_device_mesh(const Shape& shape, const std::vector<std::string>& names,
                            Caller at = Caller::here());

}  // namespace dist
