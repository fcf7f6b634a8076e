// DTensor: LineMove has one function for each cell of placement.h's table; redistribute() runs a plan of
// them.
#include "dist/mesh/dtensor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dist/core/axes.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/group/check_same.h"
#include "dist/group/diagnosis/compare_copies.h"

namespace dist {

namespace {

// One move of `local`, by the ranks of `line`.
struct LineMove {
  const Tensor& local;
  const Shape& together;  // the shape of what the line has together
  const ProcessGroup& line;
  Caller at;

  Options options() const { return {.group = line}; }
  std::int64_t begin(std::int64_t axis, int rank) const {
    return torch_chunk_begin(together[static_cast<std::size_t>(axis)], rank, line.size());
  }
  std::int64_t size_of_own(std::int64_t axis) const {
    return begin(axis, line.rank() + 1) - begin(axis, line.rank());
  }
  // A tensor that `receive` fills by parts along an axis: along the first they are views of it.
  template <class Receive>
  Tensor received(const Shape& shape, std::int64_t axis, const Receive& receive) const {
    Tensor whole = empty(shape, local.dtype(), local.device(), at);
    std::vector<Tensor> parts = torch_chunk(whole, line.size(), axis, at);
    receive(parts);
    return axis == 0 ? whole : cat(parts, axis, at);
  }

  Tensor operator()(Shard from, Replicate) const {
    return received(together, from.axis, [&](auto& parts) { all_gather(parts, local, options(), at); });
  }
  Tensor operator()(Shard from, Shard to) const {
    const std::vector<Tensor> sent = torch_chunk(local, line.size(), to.axis, at);
    Shape shape = together;
    shape[static_cast<std::size_t>(to.axis)] = size_of_own(to.axis);
    return received(shape, from.axis, [&](auto& parts) { all_to_all(parts, sent, options(), at); });
  }
  Tensor operator()(Shard from, Partial) const {
    Tensor sum = zeros(together, local.dtype(), local.device());
    return put(sum, from.axis, begin(from.axis, line.rank()), local, at);
  }
  Tensor operator()(Replicate, Shard to) const {  // a copy, so that the rest of the elements can be freed
    const Tensor part = narrow(local, to.axis, begin(to.axis, line.rank()), size_of_own(to.axis), at);
    return to.axis == 0 ? part.clone(at) : part;
  }
  Tensor operator()(Replicate, Partial to) const {
    const bool repeats = to.op.kind() == ReduceOp::Kind::sum || to.op.kind() == ReduceOp::Kind::product;
    if (!repeats || line.rank() == 0) return local;
    return full(local.shape(), to.op.kind() == ReduceOp::Kind::sum ? 0 : 1, local.dtype(), local.device());
  }
  Tensor operator()(Partial from, Shard to) const {
    const std::vector<Tensor> parts = torch_chunk(local, line.size(), to.axis);
    Tensor own = empty_like(parts[static_cast<std::size_t>(line.rank())]);
    reduce_scatter(own, parts, from.op, options(), at);
    return own;
  }
  Tensor operator()(Partial from, Replicate) const {
    Tensor result = local.clone(at);
    all_reduce(result, from.op, options(), at);
    return result;
  }
  // Neither Partial to Partial, which redistribute() refuses, nor what changes nothing is in a plan.
  template <class Same>
  Tensor operator()(Same, Same) const {
    fail(Errc::internal, "a move that is not in the table");
  }
};

// The placements, with axes counted from the front.
Placements checked(std::string_view call, Placements placements, const DeviceMesh& mesh, std::size_t axes,
                   CallSite at) {
  if (static_cast<int>(placements.size()) != mesh.dim())
    fail(Errc::invalid_argument, "{} at {}: {} for a mesh ({}); each of its axes needs one", call, at.str(),
         counted(placements.size(), "placement"), mesh.str());
  const ReduceOp* first = nullptr;
  for (Placement& placement : placements) {
    if (Shard* const shard = std::get_if<Shard>(&placement)) {
      const auto count = static_cast<std::int64_t>(axes);
      if (shard->axis < -count || shard->axis >= count)
        fail(Errc::invalid_argument, "{} at {}: {} of a tensor that has {}", call, at.str(),
             to_string(placement), counted(axes, "axis", "axes"));
      if (shard->axis < 0) shard->axis += count;
    } else if (const Partial* const partial = std::get_if<Partial>(&placement)) {
      if (partial->op.kind() > ReduceOp::Kind::max || (first && *first != partial->op))
        fail(Errc::invalid_argument,
             "{} at {}: {}; it can be sum, avg, product, min or max, one for all axes", call, at.str(),
             to_string(placement));
      first = &partial->op;
    }
  }
  return placements;
}

// What every rank of the mesh must agree about, in lines.
std::string description(const Shape& shape, DType dtype, const DeviceMesh& mesh,
                        const Placements& placements) {
  std::string text = fmt::format("the whole shape {}\n{}\n", to_string(shape), name(dtype));
  for (std::size_t i = 0; i < placements.size(); ++i)
    text += fmt::format("{}={}: {}\n", mesh.names()[i], mesh.shape()[i], to_string(placements[i]));
  return text;
}

}  // namespace

DTensor DTensor::from_local(Tensor local, const DeviceMesh& mesh, Placements placements,
                            std::optional<Shape> shape, Caller at) {
  static_cast<void>(local.flat(at));
  const std::size_t axes = shape ? shape->size() : local.shape().size();
  placements = checked("from_local", std::move(placements), mesh, axes, at);
  if (!shape) {
    shape = local.shape();
    for (std::size_t i = 0; i < placements.size(); ++i)
      if (const Shard* const shard = std::get_if<Shard>(&placements[i]))
        (*shape)[static_cast<std::size_t>(shard->axis)] *= mesh.shape()[i];
  }
  if (mesh.is_member())
    check_same("from_local", description(*shape, local.dtype(), mesh, placements), mesh.get_all_groups(at),
               at);
  DTensor made(std::move(local), mesh, std::move(placements), std::move(*shape));
  if (mesh.is_member() && made.local_.shape() != made.local_part().shape)
    fail(Errc::invalid_argument,
         "from_local at {}: a local tensor of shape {}; this rank's part of {} is {}; pass .shape, that of "
         "the "
         "whole tensor, where it is another one",
         at.str(), to_string(made.local_.shape()), to_string(made.shape_),
         to_string(made.local_part().shape));
  return made;
}

LocalPart DTensor::local_part() const {
  if (!mesh_.is_member()) return {Shape{0}, Shape{0}};
  return dist::local_part(shape_, mesh_.shape(), placements_, mesh_.get_coordinate());
}

DTensor DTensor::redistribute(const Placements& placements, Caller at) const {
  DTensor now = *this;
  const Placements to = checked("redistribute", placements, mesh_, shape_.size(), at);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (std::holds_alternative<Partial>(placements_[i]) && std::holds_alternative<Partial>(to[i]) &&
        placements_[i] != to[i])
      fail(Errc::invalid_argument, "redistribute at {}: {} cannot become {}; reduce it first", at.str(),
           to_string(placements_[i]), to_string(to[i]));
  if (!mesh_.is_member()) return now.placements_ = to, now;
  const auto moves = plan_moves(placements_, to);
  const auto sends = [](const Move& move) {
    return !std::holds_alternative<Replicate>(move.from) && !std::holds_alternative<Partial>(move.to);
  };
  if (std::ranges::any_of(moves, sends) && compares_copies(mesh_.get_group(MeshAxis(0, at))))
    check_same(
        "redistribute",
        description(shape_, dtype(), mesh_, placements_) + "to:\n" + description(shape_, dtype(), mesh_, to),
        mesh_.get_all_groups(at), at);
  for (const Move& move : moves) {
    now.placements_[move.mesh_axis] = Replicate();
    const Shape together = now.local_part().shape;
    const ProcessGroup line = mesh_.get_group(MeshAxis(static_cast<int>(move.mesh_axis), at));
    now.local_ = std::visit(LineMove{now.local_, together, line, at}, move.from, move.to);
    now.placements_[move.mesh_axis] = move.to;
  }
  now.placements_ = to;
  return now;
}

// A summand that was declared to be whole would be returned as it is (finding D11).
void DTensor::compare_replicas(Caller at) const {
  for (int axis = 0; mesh_.is_member() && axis < mesh_.dim(); ++axis) {
    if (!std::holds_alternative<Replicate>(placements_[static_cast<std::size_t>(axis)])) continue;
    const ProcessGroup line = mesh_.get_group(MeshAxis(axis, at));
    if (!compares_copies(line)) continue;
    compare_copies(line, {.axis = mesh_.names()[static_cast<std::size_t>(axis)],
                          .names = {"a tensor placed as Replicate()"},
                          .sketches = {check::sketch_of(local_)},
                          .where = at});
  }
}

Tensor DTensor::full_tensor(Caller at) const {
  compare_replicas(at);
  return redistribute(Placements(placements_.size(), Replicate()), at).local_;
}

std::string DTensor::str() const {
  std::string placed;
  for (std::size_t i = 0; i < placements_.size(); ++i)
    placed += fmt::format("{}{}={}: {}", i == 0 ? "" : ", ", mesh_.names()[i], mesh_.shape()[i],
                          to_string(placements_[i]));
  return fmt::format("DTensor({} {}; {}; local {})", to_string(shape_), name(dtype()), placed,
                     to_string(local_.shape()));
}

// Along each axis of the mesh, from its rank `source`. Among the ranks of an axis only those have values that
// are the source of all later axes, and those are the ones that later axes read.
DTensor distribute_tensor(const Tensor& t, const DeviceMesh& mesh, Placements placements,
                          std::optional<int> source, Caller at) {
  static_cast<void>(t.flat(at));
  placements = checked("distribute_tensor", std::move(placements), mesh, t.shape().size(), at);
  DTensor now(mesh.is_member() ? t : empty({0}, t.dtype(), t.device()), mesh,
              Placements(placements.size(), Replicate()), t.shape());
  for (std::size_t i = 0; i < placements.size(); ++i)
    if (std::holds_alternative<Partial>(placements[i]) ||
        (source && (*source < 0 || *source >= mesh.shape()[i])))
      fail(Errc::invalid_argument,
           "distribute_tensor at {}: {} along {}={} from rank {}; Partial has from_local()", at.str(),
           to_string(placements[i]), mesh.names()[i], mesh.shape()[i], source.value_or(0));
  if (!mesh.is_member()) return now.redistribute(placements, at);
  const std::string from = source ? fmt::format("from rank {} of each axis", *source) : "without a source";
  check_same("distribute_tensor", description(t.shape(), t.dtype(), mesh, placements) + from,
             mesh.get_all_groups(at), at);
  if (!source) {
    for (int axis = 0; axis < mesh.dim(); ++axis)
      compare_replicas(mesh.get_group(MeshAxis(axis, at)), {{"the tensor", t}}, at,
                       mesh.names()[static_cast<std::size_t>(axis)],
                       "pass equal values on every rank, or .src_data_rank, whose values the others receive");
    return now.redistribute(placements, at);
  }
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const ProcessGroup line = mesh.get_group(MeshAxis(static_cast<int>(i), at));
    const Options from_source{.group = line, .group_src = *source};
    if (const Shard* const shard = std::get_if<Shard>(&placements[i])) {
      std::vector<Tensor> parts;
      if (line.rank() == *source) parts = torch_chunk(now.local_, line.size(), shard->axis, at);
      now.placements_[i] = *shard;
      now.local_ = empty(now.local_part().shape, t.dtype(), t.device(), at);
      scatter(now.local_, parts, 0, from_source, at);
    } else {
      now.local_ = now.local_.clone(at);
      broadcast(now.local_, 0, from_source, at);
    }
  }
  return now;
}

}  // namespace dist
