// Lab 17, part 3: the groups of all lines.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab17 {
namespace {

using judge::misconception;

// Whether each rank has told of all groups that it has made: the simulation has seen them.
void expect_said(const judge::SimRun& done, const std::vector<Json>& replies) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    int said = replies[rank].at("made").get<int>() + replies[rank].at("other").get<int>();
    for (const int more : replies[rank].at("flattened")) said += more;
    const auto& calls = done.done.at(rank);
    const auto seen = calls.contains("new_group") ? calls.at("new_group").calls : 0;
    if (said >= seen) continue;
    ADD_FAILURE() << fmt::format("rank {} says that it has made {} groups; it has made {}", rank, said, seen);
    return;
  }
}

std::vector<Json> make(const Grid& grid, int outside, const std::vector<Flattened>& flattened) {
  Json task{{"call", "make_mesh"}, {"grid", as_json(grid)}, {"flattened", Json::array()}};
  for (const auto& [axes, name] : flattened) task["flattened"].push_back({{"axes", axes}, {"name", name}});
  const int world =
      std::max(*std::ranges::max_element(grid.ranks) + 1, static_cast<int>(grid.ranks.size()) + outside);
  const auto done = run(std::vector<Json>(static_cast<std::size_t>(world), task),
                        fmt::format("a mesh of {} on {} ranks", text(grid), world));
  const auto replies = answers(done);
  expect_said(done, replies);
  return replies;
}

void of_another_mesh() {
  misconception("groups_of_another_mesh",
                "this belongs to another mesh of these ranks, which was made before; fix: keep groups in the "
                "mesh alone, not in a variable that outlives the call");
}

Grid turned(const Grid& grid) {
  return {{grid.names.rbegin(), grid.names.rend()}, {grid.sizes.rbegin(), grid.sizes.rend()}, grid.ranks};
}

void diagnose_group(const Grid& grid, const Flattened& line, int rank, const Json& got) {
  const Ints right = right_slice(grid, line.axes, rank);
  if (!got.at("is_member")) {
    if (right.size() == 1 && got.at("is_empty"))
      misconception(
          "no_group_for_a_line_of_one",
          "an axis of one rank has no group; fix: make its groups, too: then code that uses the mesh "
          "need not know how long an axis is");
    else if (!got.at("is_empty"))
      misconception(
          "keeps_the_last_group",
          "the mesh has the handle of another line, of which this rank is not a member; fix: of all "
          "handles that new_group returns, keep the one whose is_member() is true");
    return;
  }
  const Ints ranks = got.at("ranks");
  Names others;
  for (const std::size_t axis : grid.axes(line.axes, false)) others.push_back(grid.names[axis]);
  if (ranks == right_slice(grid, others, rank))
    misconception(
        "moves_along_the_other_axes",
        "this group has the ranks with the same coordinate ALONG the axis; fix: the ranks of a line "
        "have equal coordinates along all OTHER axes");
  else if (line.axes.size() > 1 && ranks == right_slice(grid, {line.axes.front()}, rank))
    misconception(
        "only_the_first_axis",
        "this is the line along the first axis alone; fix: along flattened axes, one may move along all "
        "of them");
  else if (ranks == reversed(right) && ranks != sorted(right))
    of_another_mesh();
  else if (sorted(ranks) == sorted(right))
    misconception("sorts_the_ranks",
                  "the group has the right ranks in another order, so their numbers in it are not their "
                  "coordinates; fix: pass them to new_group in the order of the line");
}

// The groups that these names have on this rank. Reports the first difference.
bool has_its_groups(const Grid& grid, const std::vector<Flattened>& lines, int rank, const Json& reply) {
  const bool is_inside = !right_coordinates(grid, rank).empty();
  for (const Flattened& line : lines) {
    const Json& groups = reply.at("groups");
    const std::string about = fmt::format("a mesh of {} with ranks {}, rank {}: groups[\"{}\"]", text(grid),
                                          in_braces(grid.ranks), rank, line.name);
    if (!groups.contains(line.name)) {
      ADD_FAILURE() << about << " does not exist";
      return false;
    }
    const Json& got = groups.at(line.name);
    if (!is_inside) {
      if (got.at("is_empty")) continue;
      if (!got.at("is_member"))
        misconception(
            "keeps_the_last_group",
            "a rank outside of the grid has the handle of a line, of which it is not a member; fix: keep "
            "only the handle whose is_member() is true");
      ADD_FAILURE() << about << " must be empty, because the rank is not in the grid";
      return false;
    }
    const Ints right = right_slice(grid, line.axes, rank);
    if (got.at("is_member") && got.at("ranks") == right) continue;
    diagnose_group(grid, line, rank, got);
    ADD_FAILURE() << about << " must have the ranks " << in_braces(right) << "; "
                  << (got.at("is_member") ? "it has " + in_braces(got.at("ranks"))
                                          : std::string("this rank is not a member"));
    return false;
  }
  return true;
}

bool has_its_grid(const Grid& grid, int rank, const Json& reply) {
  if (reply.at("grid") == as_json(grid)) return true;
  for (const Grid& other : {Grid{grid.names, grid.sizes, reversed(grid.ranks)}, turned(grid)})
    if (reply.at("grid") == as_json(other)) of_another_mesh();
  ADD_FAILURE() << fmt::format("rank {}: mesh.grid must be the grid that was given; it is {}", rank,
                               reply.at("grid").dump());
  return false;
}

bool is_made_axis_by_axis(const Grid& grid, const Json& groups, int rank) {
  for (std::size_t axis = 1; axis < grid.names.size(); ++axis) {
    const Json &one = groups.at(grid.names[axis - 1]), &next = groups.at(grid.names[axis]);
    if (!one.at("is_member") || one.at("context") < next.at("context")) continue;
    misconception(
        "axes_in_another_order",
        "the axes were not taken in the grid's order; fix: begin with the first axis. All ranks, and "
        "all parts of a program, must agree on one order, or they wait for each other");
    ADD_FAILURE() << fmt::format("a mesh of {}, rank {}: its group of {} must be made before that of {}",
                                 text(grid), rank, grid.names[axis - 1], grid.names[axis]);
    return false;
  }
  return true;
}

std::vector<Flattened> axes_of(const Grid& grid) {
  std::vector<Flattened> lines;
  for (const std::string& name : grid.names) lines.push_back({{name}, name});
  return lines;
}

void diagnose_number(const Grid& grid, std::size_t made, std::size_t right) {
  if (made > right && made == grid.names.size() * grid.ranks.size())
    misconception(
        "a_group_for_each_rank",
        "a group was made for each rank and axis, but the ranks of a line share one group; fix: make "
        "each line once, for instance only where it begins");
  else if (made > right)
    misconception(
        "more_groups_than_lines",
        "every group keeps memory and connections, and new_group waits for all ranks; fix: make each "
        "line once");
}

}  // namespace

void expect_groups(const Grid& grid, int outside, const std::vector<Flattened>& flattened) {
  const auto replies = make(grid, outside, flattened);
  auto lines = axes_of(grid);
  lines.insert(lines.end(), flattened.begin(), flattened.end());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const int rank = static_cast<int>(i);
    if (!has_its_grid(grid, rank, replies[i]) || !has_its_groups(grid, lines, rank, replies[i]) ||
        !is_made_axis_by_axis(grid, replies[i].at("groups"), rank))
      return;
  }
}

void expect_number_of_groups(const Grid& grid, const std::vector<Flattened>& flattened) {
  const auto replies = make(grid, 0, flattened);
  std::size_t right = 0;
  for (const auto& [axes, name] : axes_of(grid)) right += right_lines(grid, axes).size();
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const std::size_t made = replies[rank].at("made");
    if (made > right) {  // fewer with split_group
      diagnose_number(grid, made, right);
      ADD_FAILURE() << fmt::format("a mesh of {} has {} lines, so make_mesh makes {} groups; rank {} made {}",
                                   text(grid), right, right, rank, made);
      return;
    }
    std::vector<std::string> known = grid.names;
    for (std::size_t i = 0; i < flattened.size(); ++i) {
      const bool is_known = std::ranges::find(known, flattened[i].name) != known.end();
      known.push_back(flattened[i].name);
      const std::size_t lines = is_known ? 0 : right_lines(grid, flattened[i].axes).size();
      const std::size_t more = replies[rank].at("flattened").at(i);
      if (more <= lines) continue;
      if (is_known)
        misconception("flattens_twice",
                      "the groups of a name that the mesh has already were made again; fix: look into "
                      "mesh.groups first");
      else
        diagnose_number({{flattened[i].name}, {}, grid.ranks}, more, lines);
      ADD_FAILURE() << fmt::format(
          "a mesh of {}: flatten({}, \"{}\") {} must make {} groups; rank {} made {}", text(grid),
          fmt::join(flattened[i].axes, ", "), flattened[i].name, is_known ? "a second time" : "", lines, rank,
          more);
      return;
    }
  }
}

}  // namespace lab17
