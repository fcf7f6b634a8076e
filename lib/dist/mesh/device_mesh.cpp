// DeviceMesh: the grid and its groups (State), which are made by make_axis() and shared by all slices.
#include "dist/mesh/device_mesh.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/group/check_same.h"

namespace dist {

struct DeviceMesh::State {
  // An axis of the grid, or several that were flattened.
  struct Axis {
    std::string name;
    std::vector<std::size_t> along;  // these axes of the grid, in ascending order
    ProcessGroup group;              // this rank's line; none after destroy()
  };
  Shape shape;                     // of the grid
  std::vector<int> ranks;          // global ranks, in row-major order
  std::vector<int> coordinate;     // this rank's; empty outside the mesh
  std::vector<Axis> axes;          // those of the grid, then the flattened ones
  std::vector<ProcessGroup> made;  // in the order of their making

  std::int64_t size_along(const std::vector<std::size_t>& along) const {
    std::int64_t size = 1;
    for (const std::size_t axis : along) size *= shape[axis];
    return size;
  }
  // This rank's number among those that differ from it along these axes only.
  int number_along(const std::vector<std::size_t>& along) const {
    std::int64_t number = 0;
    for (const std::size_t axis : along) number = number * shape[axis] + coordinate[axis];
    return static_cast<int>(number);
  }
  std::vector<int> ranks_along(const std::vector<std::size_t>& along) const;
  void make_axis(const std::string& name, const std::vector<std::size_t>& along, Caller at);
};

namespace {

// Those of these axes that are longer than one rank. Two sets of axes have the same lines if these are equal.
std::vector<std::size_t> long_axes(const Shape& shape, std::vector<std::size_t> along) {
  std::erase_if(along, [&](std::size_t axis) { return shape[axis] == 1; });
  return along;
}

std::string grid_text(const Shape& shape, const std::vector<std::string>& names) {
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < names.size(); ++i) axes.push_back(fmt::format("{}={}", names[i], shape[i]));
  return fmt::format("{}", fmt::join(axes, ", "));
}

// One line per thing that ranks may disagree about.
std::string description(const std::vector<int>& ranks, const Shape& shape,
                        const std::vector<std::string>& names, const ProcessGroup& everybody) {
  std::string text = fmt::format("the shape {}\nthe names {}\n{} ranks\n", to_string(shape),
                                 fmt::join(names, ", "), ranks.size());
  if (ranks == everybody.ranks()) return text + "every rank in its place\n";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += fmt::format("rank {} in place {}\n", ranks[i], i);
  return text;
}

void check_mesh(const std::vector<int>& ranks, const Shape& shape, const std::vector<std::string>& names,
                int world, CallSite at) {
  if (shape.empty() || shape.size() != names.size())
    fail(Errc::invalid_argument, "a mesh at {}: {} and {}; each axis needs a size and a name", at.str(),
         counted(shape.size(), "size"), counted(names.size(), "name"));
  const auto refuse = [&](const std::string& why) {
    fail(Errc::invalid_argument, "a mesh ({}) at {}: {}", grid_text(shape, names), at.str(), why);
  };
  for (const std::string& name : names)
    if (name.empty() || std::ranges::count(names, name) > 1)
      refuse(fmt::format("the name \"{}\" is {}", name, name.empty() ? "empty" : "given to two axes"));
  if (*std::ranges::min_element(shape) < 1) refuse("each axis needs at least one rank");
  if (product(shape) != static_cast<std::int64_t>(ranks.size()))
    refuse(fmt::format("it has {} for {}; the two numbers must be equal", counted(product(shape), "place"),
                       counted(ranks.size(), "rank")));
  const std::set<int> distinct(ranks.begin(), ranks.end());
  if (distinct.size() != ranks.size() || *distinct.begin() < 0 || *distinct.rbegin() >= world)
    refuse(fmt::format("ranks {}; each must be from 0 to {}, and be listed once", fmt::join(ranks, ", "),
                       world - 1));
}

}  // namespace

std::vector<int> DeviceMesh::State::ranks_along(const std::vector<std::size_t>& along) const {
  if (coordinate.empty()) return {};
  std::vector<int> found;
  std::vector<std::int64_t> place(coordinate.begin(), coordinate.end());
  for (std::int64_t i = 0; i < size_along(along); ++i) {
    std::int64_t rest = i, position = 0;
    for (auto axis = along.rbegin(); axis != along.rend(); rest /= shape[*axis], ++axis)
      place[*axis] = rest % shape[*axis];
    for (std::size_t axis = 0; axis < shape.size(); ++axis) position = position * shape[axis] + place[axis];
    found.push_back(ranks[static_cast<std::size_t>(position)]);
  }
  return found;
}

// Decides alike on all ranks whether a group is made.
void DeviceMesh::State::make_axis(const std::string& name, const std::vector<std::size_t>& along, Caller at) {
  axes.push_back({name, along, {}});
  Axis& axis = axes.back();
  const ProcessGroup everybody = default_group(at);
  const auto same = std::ranges::find_if(
      axes, [&](const Axis& other) { return long_axes(shape, other.along) == long_axes(shape, along); });
  if (&*same != &axis) {
    axis.group = same->group;
  } else if (size_along(along) == everybody.size() && ranks == everybody.ranks()) {
    axis.group = everybody;
  } else {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (std::ranges::count(along, i) == 0) others.push_back(i);
    const bool is_inside = !coordinate.empty();
    made.push_back(
        split_group(is_inside ? number_along(others) : -1, is_inside ? number_along(along) : 0, {}, at));
    axis.group = made.back();
  }
}

DeviceMesh::DeviceMesh(const std::vector<int>& ranks, const Shape& shape,
                       const std::vector<std::string>& names, Caller at)
    : state_(std::make_shared<State>()) {
  at = users_line(at);
  check_same("DeviceMesh", description(ranks, shape, names, default_group(at)), ProcessGroup(), at);
  check_mesh(ranks, shape, names, get_world_size({}, at), at);
  state_->shape = shape;
  state_->ranks = ranks;
  if (const auto own = std::ranges::find(ranks, get_rank({}, at)); own != ranks.end()) {
    auto position = own - ranks.begin();
    state_->coordinate.resize(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; position /= shape[axis])
      state_->coordinate[axis] = static_cast<int>(position % shape[axis]);
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    state_->make_axis(names[axis], {axis}, at);
    axes_.push_back(axis);
  }
}

DeviceMesh init_device_mesh(const Shape& shape, const std::vector<std::string>& names, Caller at) {
  return {default_group(at).ranks(), shape, names, at};
}

DeviceMesh::State& DeviceMesh::state(CallSite at) const {
  if (!state_)
    fail(Errc::invalid_argument, "a mesh used{} was default-constructed; make it with init_device_mesh()",
         at.line == 0 ? "" : " at " + at.str());
  return *state_;
}

// This mesh's own axes, and those flattened from axes of the grid that it has.
std::size_t DeviceMesh::find(const std::string& name, CallSite at) const {
  const auto& axes = state(at).axes;
  const std::vector<std::size_t> grid = along_all();
  const auto is_here = [&](std::size_t axis) { return std::ranges::count(grid, axis) > 0; };
  std::string known;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool is_flattened = i >= state_->shape.size() && std::ranges::all_of(axes[i].along, is_here);
    if (!is_flattened && std::ranges::count(axes_, i) == 0) continue;
    if (axes[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + axes[i].name;
  }
  fail(Errc::invalid_argument, "the mesh used at {} has no axis \"{}\"; it has {}", at.str(), name, known);
}

std::size_t DeviceMesh::find(const MeshAxis& axis) const {
  if (!axis.name.empty()) return find(axis.name, axis.at);
  static_cast<void>(state(axis.at));
  const int number = axis.number < 0 ? axis.number + dim() : axis.number;
  if (number < 0 || number >= dim())
    fail(Errc::invalid_argument, "axis {} of the mesh ({}) at {}: it has {}", axis.number, str(),
         axis.at.str(), counted(dim(), "axis", "axes"));
  return axes_[static_cast<std::size_t>(number)];
}

bool DeviceMesh::is_member() const { return !state().coordinate.empty(); }

Shape DeviceMesh::shape() const {
  Shape sizes;
  for (const std::size_t axis : axes_) sizes.push_back(state_->size_along(state_->axes[axis].along));
  return sizes;
}

std::vector<std::string> DeviceMesh::names() const {
  std::vector<std::string> all;
  for (const std::size_t axis : axes_) all.push_back(state_->axes[axis].name);
  return all;
}

int DeviceMesh::size() const { return static_cast<int>(product(shape())); }

int DeviceMesh::size(const MeshAxis& axis) const {
  return static_cast<int>(state_->size_along(state_->axes[find(axis)].along));
}

std::vector<std::size_t> DeviceMesh::along_all() const {
  std::vector<std::size_t> all;
  for (const std::size_t axis : axes_)
    all.insert(all.end(), state_->axes[axis].along.begin(), state_->axes[axis].along.end());
  return all;
}

std::vector<int> DeviceMesh::ranks() const { return state().ranks_along(along_all()); }

std::vector<int> DeviceMesh::get_coordinate() const {
  std::vector<int> numbers;
  if (is_member())
    for (const std::size_t axis : axes_) numbers.push_back(state_->number_along(state_->axes[axis].along));
  return numbers;
}

int DeviceMesh::get_local_rank(const MeshAxis& axis) const {
  const std::size_t found = find(axis);
  return is_member() ? state_->number_along(state_->axes[found].along) : -1;
}

ProcessGroup DeviceMesh::get_group(const MeshAxis& axis) const {
  const State::Axis& found = state(axis.at).axes[find(axis)];
  if (!found.group)
    fail(Errc::invalid_argument, "the mesh used at {} was destroyed; axis {} has no group", axis.at.str(),
         found.name);
  return found.group;
}

ProcessGroup DeviceMesh::get_group(Caller at) const {
  if (dim() > 1)
    fail(Errc::invalid_argument, "get_group() at {}: the mesh ({}) has {} axes; name one, or flatten() them",
         at.str(), str(), dim());
  return get_group(MeshAxis(0, at));
}

std::vector<ProcessGroup> DeviceMesh::get_all_groups(Caller at) const {
  std::vector<ProcessGroup> groups;
  for (int axis = 0; axis < dim(); ++axis) groups.push_back(get_group(MeshAxis(axis, at)));
  return groups;
}

DeviceMesh DeviceMesh::operator[](const MeshAxes& axes) const {
  DeviceMesh slice;
  slice.state_ = state_;
  for (const std::string& name : axes.names) slice.axes_.push_back(find(name, axes.at));
  const auto first = [&](std::size_t axis) { return state_->axes[axis].along.front(); };
  std::vector<std::size_t> grid = slice.along_all();
  std::ranges::sort(grid);
  if (grid.empty() || !std::ranges::is_sorted(slice.axes_, {}, first) ||
      std::ranges::adjacent_find(grid) != grid.end())
    fail(Errc::invalid_argument, "mesh[{}] at {}: a slice has each axis once, in the order of the mesh ({})",
         fmt::join(axes.names, ", "), axes.at.str(), str());
  return slice;
}

DeviceMesh DeviceMesh::flatten(const MeshAxes& axes, const std::string& name) const {
  std::vector<std::size_t> along = (*this)[axes].along_all();
  std::ranges::sort(along);
  const auto known = std::ranges::find(state_->axes, name, &State::Axis::name);
  if (name.empty() || (known != state_->axes.end() && known->along != along))
    fail(Errc::invalid_argument, "flatten({}) at {}: the name \"{}\" is {}", fmt::join(axes.names, ", "),
         axes.at.str(), name, name.empty() ? "empty" : "another axis's");
  DeviceMesh flat;
  flat.state_ = state_;
  flat.axes_ = {static_cast<std::size_t>(known - state_->axes.begin())};
  if (known == state_->axes.end()) {
    check_same("flatten", fmt::format("{} of {}", fmt::join(axes.names, ", "), name), ProcessGroup(),
               axes.at);
    state_->make_axis(name, along, axes.at);
  }
  return flat;
}

void DeviceMesh::destroy(Caller at) {
  State& all = state(at);
  for (State::Axis& axis : all.axes) axis.group = {};
  for (; !all.made.empty(); all.made.pop_back()) destroy_process_group(all.made.back(), at);
}

std::string DeviceMesh::str() const { return grid_text(shape(), names()); }

}  // namespace dist
