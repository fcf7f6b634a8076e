// Grids, their groups, slices, flattened axes and destruction. What is expected is computed from coordinates
// one rank at a time.
#include "dist/mesh/device_mesh.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/group/job_state.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;

using Ranks = std::vector<int>;
using Names = std::vector<std::string>;

std::size_t groups_alive() { return default_group().state()->job->groups.size(); }

int sum_over(const ProcessGroup& group, int mine) {
  Tensor t = full({1}, mine);
  all_reduce(t, {.group = group});
  return t.item<int>();
}

int sum_of(const Ranks& ranks) {
  int sum = 0;
  for (const int rank : ranks) sum += rank;
  return sum;
}

std::vector<int> coordinate_of(int position, const Shape& shape) {
  std::vector<int> numbers(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; position /= static_cast<int>(shape[axis]))
    numbers[axis] = position % static_cast<int>(shape[axis]);
  return numbers;
}

// The ranks whose coordinates differ from this one's along these axes only.
Ranks line_of(const Ranks& grid, const Shape& shape, int rank, const std::vector<std::size_t>& along) {
  const auto at = std::ranges::find(grid, rank) - grid.begin();
  const auto own = coordinate_of(static_cast<int>(at), shape);
  Ranks line;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const auto other = coordinate_of(static_cast<int>(i), shape);
    bool is_on_it = true;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (std::ranges::find(along, axis) == along.end()) is_on_it = is_on_it && own[axis] == other[axis];
    if (is_on_it) line.push_back(grid[i]);
  }
  return line;
}

std::vector<Shape> shapes_of(int n) {
  std::vector<Shape> all;
  for (int a = 1; a <= n; ++a)
    for (int b = 1; b <= n / a; ++b)
      if (n % (a * b) == 0) all.push_back({a, b, n / a / b});
  return all;
}

TEST(DeviceMesh, HasOneGroupForEachLineAndNoMore) {
  for (const int n : {1, 2, 3, 4, 6, 8})
    run_ranks(n, [n](int rank) {
      Ranks everybody;
      for (int i = 0; i < n; ++i) everybody.push_back(i);
      for (const Shape& shape : shapes_of(n)) {
        const std::size_t before = groups_alive();
        DeviceMesh mesh = init_device_mesh(shape, {"a", "b", "c"});
        EXPECT_EQ(mesh.size(), n);
        EXPECT_EQ(mesh.shape(), shape);
        EXPECT_EQ(mesh.names(), (Names{"a", "b", "c"}));
        EXPECT_EQ(mesh.ranks(), everybody);
        EXPECT_EQ(mesh.get_coordinate(), coordinate_of(rank, shape));
        std::vector<Ranks> lines{everybody};
        for (const int axis : {0, 1, 2}) {
          const auto at = static_cast<std::size_t>(axis);
          const Ranks line = line_of(everybody, shape, rank, {at});
          EXPECT_EQ(mesh.get_group(axis).ranks(), line);
          EXPECT_EQ(mesh.get_group(axis - 3).rank(), coordinate_of(rank, shape)[at]);
          EXPECT_EQ(mesh.get_local_rank(axis), coordinate_of(rank, shape)[at]);
          EXPECT_EQ(mesh.size(axis), shape[at]);
          EXPECT_EQ(sum_over(mesh.get_group(axis), rank), sum_of(line));
          lines.push_back(line);
        }
        std::ranges::sort(lines);
        const auto same = std::ranges::unique(lines);
        lines.erase(same.begin(), same.end());
        EXPECT_EQ(groups_alive(), before + lines.size() - 1) << "the default group is one of them";
        mesh.destroy();
        EXPECT_EQ(groups_alive(), before);
      }
    });
}

TEST(DeviceMesh, SlicesShareTheGroupsOfTheMesh) {
  run_ranks(8, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2, 2, 2}, {"dp", "tp", "pp"});
    const std::size_t before = groups_alive();
    for (int twice = 0; twice < 2; ++twice) {
      const DeviceMesh tp = mesh["tp"], plane = mesh[{"dp", "pp"}];
      EXPECT_EQ(tp.str(), "tp=2");
      EXPECT_EQ(tp.get_group().state(), mesh.get_group("tp").state());
      EXPECT_EQ(tp.ranks(), mesh.get_group("tp").ranks());
      EXPECT_EQ(plane.str(), "dp=2, pp=2");
      EXPECT_EQ(plane.size(), 4);
      EXPECT_EQ(plane.get_group(1).state(), mesh.get_group("pp").state());
      EXPECT_EQ(plane.ranks(), line_of({0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 2}, rank, {0, 2}));
      EXPECT_EQ(plane.get_coordinate(), (std::vector<int>{rank / 4, rank % 2}));
      EXPECT_EQ(plane["pp"].get_local_rank("pp"), rank % 2);
      expect_error(Errc::invalid_argument, {"device_mesh_test.cpp:", "no axis \"tp\"; it has dp, pp"},
                   [&] { plane.get_group("tp"); });
    }
    EXPECT_EQ(groups_alive(), before);
  });
}

TEST(DeviceMesh, FlattenedAxesAreOneAxis) {
  run_ranks(8, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2, 2, 2}, {"dp", "cp", "tp"});
    const std::size_t before = groups_alive();
    const DeviceMesh both = mesh.flatten({"dp", "cp"}, "dp_cp");
    EXPECT_EQ(groups_alive(), before + 1);
    EXPECT_EQ(both.str(), "dp_cp=4");
    EXPECT_EQ(both.get_group().ranks(), (Ranks{rank % 2, rank % 2 + 2, rank % 2 + 4, rank % 2 + 6}));
    EXPECT_EQ(both.get_local_rank("dp_cp"), rank / 2);
    EXPECT_EQ(sum_over(mesh.get_group("dp_cp"), rank), 12 + 4 * (rank % 2));
    EXPECT_EQ((mesh[{"dp_cp", "tp"}].get_coordinate()), (std::vector<int>{rank / 2, rank % 2}));
    EXPECT_EQ((mesh[{"dp", "cp"}]["dp_cp"].size()), 4);
    mesh.flatten({"dp", "cp"}, "dp_cp");
    EXPECT_EQ(mesh.flatten({"dp_cp"}, "data").get_group().state(), both.get_group().state());
    EXPECT_EQ(mesh.flatten({"dp", "cp", "tp"}, "all").get_group().state(), default_group().state());
    EXPECT_EQ(groups_alive(), before + 1);
    EXPECT_EQ(mesh.flatten({"dp", "tp"}, "outer").get_group().ranks(),
              line_of({0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 2}, rank, {0, 2}));
    expect_error(Errc::invalid_argument, {"flatten(cp, tp)", "\"dp_cp\" is another axis's"}, [&] {
      mesh.flatten({"cp", "tp"}, "dp_cp");
    });
    expect_error(Errc::invalid_argument, {"no axis \"dp_cp\""}, [&] { mesh[{"cp", "tp"}]["dp_cp"]; });
    expect_error(Errc::invalid_argument, {"mesh[tp, dp]", "in the order of the mesh (dp=2, cp=2, tp=2)"},
                 [&] {
                   mesh[{"tp", "dp"}];
                 });
    expect_error(Errc::invalid_argument, {"mesh[dp_cp, cp]", "each axis once"}, [&] {
      mesh[{"dp_cp", "cp"}];
    });
  });
}

TEST(DeviceMesh, ARankCanHaveAnyPlaceAndSomeHaveNone) {
  run_ranks(6, [](int rank) {
    const Ranks list{5, 0, 3, 2};
    const std::size_t before = groups_alive();
    DeviceMesh mesh(list, {2, 2}, {"dp", "tp"});
    EXPECT_EQ(mesh.size(), 4);
    EXPECT_EQ(groups_alive(), before + 2);
    const bool is_inside = std::ranges::find(list, rank) != list.end();
    EXPECT_EQ(mesh.is_member(), is_inside);
    const DeviceMesh flat = mesh.flatten({"dp", "tp"}, "all");
    if (is_inside) {
      EXPECT_EQ(mesh.ranks(), list);
      EXPECT_EQ(mesh.get_group("tp").ranks(), line_of(list, {2, 2}, rank, {1}));
      EXPECT_EQ(mesh.get_group("dp").ranks(), line_of(list, {2, 2}, rank, {0}));
      EXPECT_EQ(flat.get_group().ranks(), list);
      EXPECT_EQ(sum_over(mesh.get_group("dp"), rank), sum_of(line_of(list, {2, 2}, rank, {0})));
    } else {
      EXPECT_EQ(mesh.get_coordinate(), std::vector<int>{});
      EXPECT_EQ(mesh["tp"].ranks(), Ranks{});
      EXPECT_EQ(mesh.get_local_rank("tp"), -1);
      EXPECT_FALSE(mesh.get_group("tp").is_member());
    }
    mesh.destroy();
    EXPECT_EQ(groups_alive(), before);
    expect_error(Errc::invalid_argument, {"device_mesh_test.cpp:", "destroyed", "axis tp"},
                 [&] { flat.str(), mesh["tp"].get_group(); });
  });
}

TEST(DeviceMesh, ErrorsSayWhatWouldBeRight) {
  run_ranks(2, [](int) {
    const auto refuses = [](const std::vector<std::string>& parts, const auto& call) {
      expect_error(Errc::invalid_argument, parts, call);
    };
    refuses({"a mesh (dp=2, tp=2) at device_mesh_test.cpp:", "it has 4 places for 2 ranks"}, [] {
      init_device_mesh({2, 2}, {"dp", "tp"});
    });
    refuses({"2 sizes and 1 name;"}, [] { init_device_mesh({2, 1}, {"dp"}); });
    refuses({"0 sizes and 0 names"}, [] { init_device_mesh({}, {}); });
    refuses({"the name \"dp\" is given to two axes"}, [] { init_device_mesh({2, 1}, {"dp", "dp"}); });
    refuses({"the name \"\" is empty"}, [] { init_device_mesh({2}, {""}); });
    refuses({"dp=-2", "at least one rank"}, [] { init_device_mesh({-2, -1}, {"dp", "tp"}); });
    refuses({"ranks 0, 2; each must be from 0 to 1"}, [] { DeviceMesh({0, 2}, {2}, {"dp"}); });
    refuses({"ranks 1, 1; each must be from 0 to 1, and be listed once"}, [] {
      DeviceMesh({1, 1}, {2}, {"dp"});
    });
    const DeviceMesh mesh = init_device_mesh({1, 2}, {"dp", "tp"});
    refuses({"no axis \"pp\"; it has dp, tp"}, [&] { mesh["pp"]; });
    refuses({"axis 2 of the mesh (dp=1, tp=2)", "it has 2 axes"}, [&] { mesh.get_group(2); });
    refuses({"get_group()", "(dp=1, tp=2) has 2 axes"}, [&] { mesh.get_group(); });
    refuses({"each axis once"}, [&] { mesh[std::initializer_list<std::string_view>{}]; });
    refuses({"default-constructed"}, [&] { DeviceMesh().get_group("dp"); });
    EXPECT_FALSE(DeviceMesh());
    EXPECT_TRUE(mesh);
  });
}

// A line of one rank's mesh is not a line of another's.
TEST(DeviceMesh, RanksThatMakeDifferentMeshesAreTold) {
  run_ranks(4, [](int rank) {
    const Ranks list = rank == 0 ? Ranks{0, 1, 2, 3} : Ranks{3, 2, 1, 0};
    expect_error(Errc::mismatch,
                 {"rank 1 has rank 3 in place 0 where rank 0 has every rank in its place",
                  "must pass the same arguments"},
                 [&] {
                   DeviceMesh(list, {2, 2}, {"dp", "tp"});
                 });
  });
}

TEST(DeviceMesh, OfManyRanksIsMadeByOneSplitForEachAxis) {
  const sim::Report report = sim::run({.ranks = 64}, [](int rank) {
    init_process_group();
    const DeviceMesh mesh = init_device_mesh({4, 4, 4}, {"dp", "tp", "pp"});
    EXPECT_EQ(groups_alive(), 4U);
    EXPECT_EQ(sum_over(mesh.get_group("dp"), rank), 4 * (rank % 16) + 96);
    destroy_process_group();
  });
  EXPECT_EQ(report.text(), "");
}

}  // namespace
}  // namespace dist
