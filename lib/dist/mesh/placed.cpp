// The geometry of a part (boxes), how it becomes a whole again (full_tensor), and the norm of gradients of
// which each rank has a part (squared_norm).
#include "dist/mesh/placed.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dist/core/axes.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/core/view.h"
#include "dist/nn/clip_grad_norm.h"

namespace dist {

namespace {

// Entries [begin, begin + size) of a tensor axis.
struct Run {
  std::int64_t begin, size;
};

// What the rank has of an axis of this size: one run for each part.
std::vector<Run> runs_of(const PlacedAxis& axis, std::int64_t size, int rank, int ranks) {
  std::vector<Run> runs;
  std::int64_t offset = 0;
  for (const std::int64_t part : axis.parts.empty() ? std::vector{size} : axis.parts) {
    const std::int64_t begin = torch_chunk_begin(part, rank, ranks);
    runs.push_back({offset + begin, torch_chunk_begin(part, rank + 1, ranks) - begin});
    offset += part;
  }
  return runs;
}

std::int64_t size_of(const std::vector<Run>& runs) {
  std::int64_t size = 0;
  for (const Run& run : runs) size += run.size;
  return size;
}

// Entries `picked` of what `from` has, in terms of what `from` is in terms of.
std::vector<Run> picked_from(const std::vector<Run>& from, const std::vector<Run>& picked) {
  std::vector<Run> result;
  for (const Run& pick : picked) {
    std::int64_t at = 0;
    for (const Run& run : from) {
      const std::int64_t low = std::max(at, pick.begin),
                         high = std::min(at + run.size, pick.begin + pick.size);
      if (low < high) result.push_back({run.begin + low - at, high - low});
      at += run.size;
    }
  }
  return result;
}

std::int64_t& along(Shape& shape, const Shard& shard) { return shape[static_cast<std::size_t>(shard.axis)]; }

// A scalar is on the first rank, and the others have nothing of it.
Shape with_axis(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

// The sum over all axes of what each rank has: sums[s] belongs to the set s of groups (bit g for group g)
// over which it is still to be summed. One all_reduce per group, in their order. Summing over group g moves
// sums to the set without g; every rank sends the sums of all sets with g, whether it has such parameters or
// not.
double sum_over_sets(std::vector<double> sums, std::span<const ProcessGroup> groups, CallSite at) {
  if (groups.size() > 8)
    fail(Errc::invalid_argument, "clip_grad_norm: {} groups; there can be 8", groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t bit = std::size_t{1} << g;
    std::vector<double> values;
    for (std::size_t s = bit; s < sums.size(); s += 2 * bit) values.push_back(sums[s]);
    Tensor parts = tensor(std::span<const double>(values), cpu);
    all_reduce(parts, ReduceOp::sum, {.group = groups[g]}, at);
    for (std::size_t k = 0; k < values.size(); ++k) sums[2 * bit * k] += parts.data<double>()[k];
  }
  return sums[0];
}

}  // namespace

Shape Placed::shape_before(std::size_t end) const {
  Shape shape = whole;
  for (std::size_t i = 0; i < end; ++i) {
    const Shard* const shard = std::get_if<Shard>(&axes[i].placement);
    if (!shard) continue;
    shape = with_axis(shape);
    along(shape, *shard) = size_of(
        runs_of(axes[i], along(shape, *shard), get_rank(axes[i].group), get_world_size(axes[i].group)));
  }
  return shape;
}

bool Placed::has_all() const {
  std::int64_t elements = 0;
  for (const Box& box : boxes()) elements += product(box.local.shape);
  return elements == product(whole);
}

std::vector<Placed::Box> Placed::boxes() const {
  const Shape shape = with_axis(whole);
  std::vector<std::vector<Run>> runs;  // of each tensor axis
  for (const std::int64_t size : shape) runs.push_back({{0, size}});
  for (const PlacedAxis& axis : axes) {
    const Shard* const shard = std::get_if<Shard>(&axis.placement);
    if (!shard) continue;
    auto& had = runs[static_cast<std::size_t>(shard->axis)];
    had = picked_from(had, runs_of(axis, size_of(had), get_rank(axis.group), get_world_size(axis.group)));
  }
  std::vector<Box> boxes{{}};
  for (const auto& of_axis : runs) {  // every combination
    std::vector<Box> longer;
    for (const Box& box : boxes) {
      std::int64_t at = 0;
      for (const Run& run : of_axis) {
        Box& next = longer.emplace_back(box);
        next.local.offset.push_back(at), next.local.shape.push_back(run.size),
            next.offset.push_back(run.begin);
        at += run.size;
      }
    }
    boxes = std::move(longer);
  }
  std::erase_if(boxes, [](const Box& box) { return product(box.local.shape) == 0; });
  if (whole.empty())
    for (Box& box : boxes) box = {};
  return boxes;
}

Tensor Placed::part_along(std::size_t i, const Tensor& of, int rank) const {
  const Shard* const shard = std::get_if<Shard>(&axes[i].placement);
  if (!shard) return of.clone();
  std::vector<Tensor> pieces;
  for (const Run& run : runs_of(axes[i], of.size(shard->axis), rank, get_world_size(axes[i].group)))
    pieces.push_back(narrow(of, shard->axis, run.begin, run.size));
  return cat(pieces, shard->axis);
}

// From the last axis to the first: each joins what the ranks of its group have.
Tensor Placed::full_tensor(const Tensor& part, Caller at) const {
  Tensor now = part;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const PlacedAxis& axis = axes[i];
    const Shard* const shard = std::get_if<Shard>(&axis.placement);
    if (!shard) continue;
    const Shape before = with_axis(shape_before(i));
    const int ranks = get_world_size(axis.group, at);
    if (now.dim() == 0) now = now.view({1});
    std::vector<Tensor> all;
    std::vector<std::vector<Run>> runs;
    for (int rank = 0; rank < ranks; ++rank) {
      Shape shape = before;
      runs.push_back(runs_of(axis, along(shape, *shard), rank, ranks));
      along(shape, *shard) = size_of(runs.back());
      all.push_back(empty(std::move(shape), part.dtype(), part.device()));
    }
    all_gather(all, now, {.group = axis.group}, at);
    std::vector<Tensor> pieces;
    std::vector<std::int64_t> had(all.size());  // of each rank's tensor
    for (std::size_t p = 0; p < runs[0].size(); ++p)
      for (std::size_t r = 0; r < all.size(); ++r) {
        pieces.push_back(narrow(all[r], shard->axis, had[r], runs[r][p].size));
        had[r] += runs[r][p].size;
      }
    now = cat(pieces, shard->axis);
  }
  return whole.empty() && now.numel() == 1 ? now.view({}) : now;
}

// The groups over which some parameter is divided, in an order that all of their ranks have, and the sum of
// squares for each set of them.
Tensor Placed::squared_norm(std::span<const nn::NamedParameter> parameters) const {
  std::map<std::pair<std::string, std::string>, ProcessGroup> found;
  const auto key = [](const PlacedAxis& axis) {
    return std::pair(axis.name, (axis.group ? axis.group : default_group()).name());
  };
  const auto divides = [](const PlacedAxis& axis) {
    return axis.is_stage || std::holds_alternative<Shard>(axis.placement);
  };
  for (const auto& [name, parameter] : parameters) {
    const Placed* const placed = placed_of(*parameter);
    if (!placed) continue;
    for (const PlacedAxis& axis : placed->axes) {
      if (std::holds_alternative<Partial>(axis.grad_placement) && parameter->requires_grad())
        fail(Errc::invalid_argument,
             "clip_grad_norm: the gradient of \"{}\" is still to be summed over the ranks of {}: {}", name,
             axis.name, axis.remedy);
      if (divides(axis)) found.emplace(key(axis), axis.group);
    }
  }
  std::vector<ProcessGroup> groups;
  for (const auto& [name, group] : found) groups.push_back(group);
  std::map<std::size_t, std::vector<Tensor>> sets;
  Device device = cpu;
  for (const auto& [name, parameter] : parameters) {
    const Placed* const placed = placed_of(*parameter);
    if (!parameter->requires_grad() || parameter->grad.numel() == 0) continue;
    device = parameter->grad.device();
    if (placed && !placed->copy_of.empty()) continue;
    std::size_t set = 0;
    for (const PlacedAxis& axis : placed ? placed->axes : std::vector<PlacedAxis>{})
      if (divides(axis)) set |= std::size_t{1} << std::distance(found.begin(), found.find(key(axis)));
    sets[set].push_back(parameter->grad);
  }
  std::vector<double> sums(std::size_t{1} << std::min<std::size_t>(groups.size(), 9));
  for (const auto& [set, gradients] : sets) sums.at(set) = nn::squared_norm(gradients).item<double>();
  return full({}, sum_over_sets(std::move(sums), groups, CallSite::current()), DType::f64, device);
}

Placed* placed_of(const nn::Parameter& parameter) { return static_cast<Placed*>(parameter.division.get()); }

Placed& place(nn::Parameter& parameter) {
  if (!parameter.division) parameter.division = std::make_shared<Placed>(parameter.value.shape());
  return *placed_of(parameter);
}

void require_whole(std::string_view call, std::span<const nn::NamedParameter> parameters,
                   const ProcessGroup& of, CallSite where) {
  const ProcessGroup group = of ? of : default_group(where);
  for (const auto& [name, parameter] : parameters) {
    const Placed* const placed = placed_of(*parameter);
    if (!placed) continue;
    for (const PlacedAxis& axis : placed->axes) {
      if (!axis.is_stage && axis.placement == Placement(Replicate()) &&
          axis.grad_placement == Placement(Replicate()))
        continue;
      const auto in_axis = (axis.group ? axis.group : default_group(where)).ranks();
      const auto common = std::ranges::count_if(
          group.ranks(), [&](int rank) { return std::ranges::find(in_axis, rank) != in_axis.end(); });
      if (common > 1)
        fail(Errc::invalid_argument,
             "{}: the ranks of its group have divided \"{}\" among them along {}{}; use a group of ranks "
             "that have the "
             "same part, such as mesh.get_group(\"dp\")",
             call, name, axis.name,
             axis.is_stage ? ", and each has other layers"
                           : fmt::format(" ({})", to_string(std::holds_alternative<Replicate>(axis.placement)
                                                                ? axis.grad_placement
                                                                : axis.placement)));
    }
  }
}

}  // namespace dist
