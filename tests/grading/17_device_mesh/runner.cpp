// The process of one rank in the grading of lab 17: a rank of the grader's simulation. For parts 4 and 5 it
// makes a right mesh first, so that these parts can be graded without the third.
#include "judge/runner.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "dist/dist.h"
#include "dist/group/group_state.h"

#include "device_mesh.h"
#include "grid.h"

namespace {

using dist::Tensor, judge::Json, lab17::Numbers;

lab::Grid grid_of(const Json& task) {
  const Json& grid = task.at("grid");
  return {grid.at("names"), grid.at("sizes"), grid.at("ranks")};
}
Json as_json(const lab::Grid& grid) {
  return {{"names", grid.names}, {"sizes", grid.sizes}, {"ranks", grid.ranks}};
}

Json coordinates(const Json& one) { return lab::coordinates(grid_of(one), one.at("rank")); }
Json rank_at(const Json& one) { return lab::rank_at(grid_of(one), one.at("place")); }
Json slice(const Json& one) { return as_json(lab::slice(grid_of(one), one.at("axes"), one.at("rank"))); }

// How many groups this rank has made.
std::uint64_t groups_made() { return dist::default_group().state()->control_calls; }

Json seen(const lab::Mesh& mesh) {
  Json groups = Json::object();
  for (const auto& [name, group] : mesh.groups) {
    groups[name] = {{"is_empty", !group}, {"is_member", group.is_member()}};
    if (group.is_member())
      groups[name].update({{"ranks", group.ranks()}, {"context", group.state()->identity.context}});
  }
  return groups;
}

Json make_mesh(const Json& task) {
  const auto at_first = groups_made();
  const lab::Grid grid = grid_of(task);
  lab::Grid reversed = grid;
  std::ranges::reverse(reversed.ranks);
  auto other = lab::make_mesh(reversed);  // another mesh, whose axes have the same names
  for (const auto& one : task.at("flattened")) lab::flatten(other, one.at("axes"), one.at("name"));
  lab::Grid turned = grid;
  std::ranges::reverse(turned.names);
  std::ranges::reverse(turned.sizes);
  (void)lab::make_mesh(turned);  // a mesh of the same ranks, whose axes come in another order
  const auto before = groups_made();
  auto mesh = lab::make_mesh(grid);
  const auto after = groups_made();
  Json flattened = Json::array();
  for (const auto& one : task.at("flattened")) {
    const auto so_far = groups_made();
    lab::flatten(mesh, one.at("axes"), one.at("name"));
    flattened.push_back(groups_made() - so_far);
  }
  return {{"grid", as_json(mesh.grid)},
          {"groups", seen(mesh)},
          {"other", before - at_first},
          {"made", after - before},
          {"flattened", flattened}};
}

dist::ProcessGroup right_line(const lab17::Grid& grid, const lab17::Names& axes) {
  dist::ProcessGroup own;
  for (const auto& line : lab17::right_lines(grid, axes))
    if (const auto group = dist::new_group(line); group.is_member()) own = group;
  return own;
}

lab::Mesh right_mesh(const Json& task) {
  lab::Mesh mesh{grid_of(task), {}};
  const lab17::Grid grid{mesh.grid.names, mesh.grid.sizes, mesh.grid.ranks};
  for (const auto& axis : grid.names) mesh.groups[axis] = right_line(grid, {axis});
  for (const auto& one : task.at("flattened")) mesh.groups[one.at("name")] = right_line(grid, one.at("axes"));
  return mesh;
}

Json mean_loss(const Json& task) {
  const auto mesh = right_mesh(task);
  Json losses = Json::array();
  for (const auto& round : task.at("rounds")) {
    const auto loss = lab::mean_loss(mesh, task.at("data"), round.at("sum"), round.at("tokens"));
    losses.push_back({{"mean", std::bit_cast<std::uint64_t>(loss.mean)}, {"tokens", loss.tokens}});
  }
  return {{"losses", losses}, {"groups", seen(mesh)}};
}

// The same axes, another number of gradients, and other numbers in them.
void clip_others(const lab::Mesh& mesh, std::vector<lab::Gradient> gradients) {
  gradients.push_back(gradients.front());
  for (auto& gradient : gradients) gradient.values = gradient.values.clone().mul_(3);
  (void)lab::gradient_norm(mesh, gradients);
  (void)lab::clip_gradients(mesh, gradients, 1);
}

// gradient_norm(), or clip_gradients() where the task has a limit. "after_another": another call comes first.
Json norm(const Json& task) {
  const auto mesh = right_mesh(task);
  std::vector<lab::Gradient> gradients;
  std::vector<dist::Tensor> callers;  // their memory
  for (const auto& one : task.at("gradients")) {
    const Numbers values = one.at("values");
    auto gradient = dist::tensor<double>(values);
    if (gradients.size() % 2 == 1) gradient = gradient.view({1, gradient.numel()});  // of any shape
    gradients.push_back({gradient, one.at("over")});
    callers.push_back(gradient);
  }
  if (task.at("after_another")) clip_others(mesh, gradients);
  const double norm = task.at("max_norm").is_null()
                          ? lab::gradient_norm(mesh, gradients)
                          : lab::clip_gradients(mesh, gradients, task.at("max_norm"));
  Json values = Json::array();
  for (std::size_t i = 0; i < std::min(gradients.size(), callers.size()); ++i) {
    Json elements = Json::array();
    for (const double element : callers[i].to_vector<double>())
      elements.push_back(std::bit_cast<std::uint64_t>(element));
    values.push_back(elements);
  }
  return {{"norm", std::bit_cast<std::uint64_t>(norm)}, {"values", values}, {"groups", seen(mesh)}};
}

Json for_each_case(const Json& task, Json (*answer)(const Json&)) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) answers.push_back(judge::attempt([&] { return answer(one); }));
  return answers;
}

Json on_a_rank(const Json& task, Json (*answer)(const Json&)) {
  return judge::attempt([&] {
    dist::init_process_group();
    return answer(task);
  });
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) -> Json {
    const std::string call = task.at("call");
    if (call == "coordinates") return for_each_case(task, coordinates);
    if (call == "rank_at") return for_each_case(task, rank_at);
    if (call == "slice") return for_each_case(task, slice);
    if (call == "make_mesh") return on_a_rank(task, make_mesh);
    if (call == "mean_loss") return on_a_rank(task, mean_loss);
    if (call == "norm") return on_a_rank(task, norm);
    throw std::logic_error("no such call: " + call);
  });
}
