// Every change of placements, with the values and with the bytes that it sends.
#include "dist/mesh/dtensor.h"

#include <numeric>

#include <gtest/gtest.h>

#include "dist/core/axes.h"
#include "dist/core/shape.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/ranks.h"
#include "support/slow_build.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;
using test::slow_build;

Tensor numbered(const Shape& shape, DType dtype = DType::f32) {
  return arange(product(shape), DType::i32).to(dtype).view(shape);
}

Tensor part_of(const Tensor& whole, const LocalPart& part) {
  Tensor own = whole;
  for (std::size_t axis = 0; axis < part.shape.size(); ++axis)
    own = narrow(own, static_cast<std::int64_t>(axis), part.offset[axis], part.shape[axis]);
  return own.clone();
}

// `whole` as a DTensor, made without communication. Along an axis that is Partial, rank i has i times the
// values, and rank 0 what is missing from their sum.
DTensor placed(const Tensor& whole, const DeviceMesh& mesh, const Placements& placements) {
  Tensor own = part_of(whole, local_part(whole.shape(), mesh.shape(), placements, mesh.get_coordinate()));
  for (int i = 0; i < mesh.dim(); ++i) {
    if (placements[static_cast<std::size_t>(i)] != Placement(Partial())) continue;
    const int n = mesh.size(i), rank = mesh.get_local_rank(i);
    const Tensor factor = full(own.shape(), rank == 0 ? 1 - n * (n - 1) / 2 : rank, own.dtype());
    own.mul_(factor);
  }
  return DTensor::from_local(own, mesh, placements, whole.shape());
}

void expect_whole(const DTensor& tensor, const Tensor& whole, const std::string& what) {
  const auto is_partial = [](const Placement& p) { return std::holds_alternative<Partial>(p); };
  EXPECT_EQ(tensor.to_local().shape(), tensor.local_part().shape) << what;
  if (std::ranges::none_of(tensor.placements(), is_partial)) {
    EXPECT_TRUE(equal(tensor.to_local(), part_of(whole, tensor.local_part()))) << what;
  }
  EXPECT_TRUE(equal(tensor.full_tensor(), whole)) << what;
}

const Placements kinds{Shard(0), Shard(1), Replicate(), Partial()};

std::vector<Placements> placements_of(int axes) {
  std::vector<Placements> all;
  for (const Placement& first : kinds) {
    if (axes == 1) all.push_back({first});
    for (const Placement& second : kinds)
      if (axes == 2) all.push_back({first, second});
  }
  return all;
}

void expect_all_pairs(const DeviceMesh& mesh, const Shape& shape, DType dtype) {
  const Tensor whole = numbered(shape, dtype);
  for (const Placements& from : placements_of(mesh.dim()))
    for (const Placements& to : placements_of(mesh.dim())) {
      const DTensor before = placed(whole, mesh, from), after = before.redistribute(to);
      EXPECT_EQ(after.placements(), to);
      EXPECT_EQ(after.shape(), shape);
      expect_whole(after, whole, before.str() + " became " + after.str());
      EXPECT_TRUE(equal(before.to_local(), placed(whole, mesh, from).to_local())) << "the input is as before";
    }
}

class Redistribute : public testing::TestWithParam<int> {};

TEST_P(Redistribute, AlongOneAxisGivesTheSameTensor) {
  run_ranks(GetParam(), [n = GetParam()](int) {
    const DeviceMesh mesh = init_device_mesh({n}, {"tp"});
    for (const Shape& shape : {Shape{6, 4}, Shape{5, 7}, Shape{1, 9}, Shape{0, 3}, Shape{24, 8, 2}})
      expect_all_pairs(mesh, shape, DType::f32);
    expect_all_pairs(mesh, {3, 5}, DType::i64);
  });
}

// Virtual ranks do fewer, because the simulator guards the memory of each tensor, which takes longer than the
// change; and so do sanitizers.
TEST_P(Redistribute, AlongTwoAxesGivesTheSameTensor) {
  const int n = GetParam();
  const bool few = slow_build || test::ranks_are_simulated();
  for (const std::int64_t rows : {1, 2, 3}) {
    if (n % rows != 0 || (few && rows != 2)) continue;
    run_ranks(n, [&](int) {
      const DeviceMesh mesh = init_device_mesh({rows, n / rows}, {"dp", "tp"});
      expect_all_pairs(mesh, {5, 7}, DType::f32);
      if (few) return;
      for (const Shape& shape : {Shape{8, 6}, Shape{1, 3}, Shape{0, 2}, Shape{9, 4, 2}})
        expect_all_pairs(mesh, shape, DType::f64);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Redistribute, testing::Values(1, 2, 3, 4, 6, 8));

TEST(DTensor, OtherReductionsAreDoneAndBegun) {
  run_ranks(4, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({4}, {"dp"});
    for (const auto& [op, result] : {std::pair{ReduceOp::max, 3.0}, std::pair{ReduceOp::min, 0.0},
                                     std::pair{ReduceOp::avg, 1.5}, std::pair{ReduceOp::product, 0.0}}) {
      const DTensor made = DTensor::from_local(full({6}, rank), mesh, {Partial(op)});
      EXPECT_EQ(made.full_tensor().to_vector<double>(), std::vector<double>(6, result));
      EXPECT_EQ(made.redistribute({Shard(0)}).to_local().numel(), rank == 3 ? 0 : 2);
      for (const Placement& from : {Placement(Replicate()), Placement(Shard(0))}) {
        const Tensor whole = numbered({7});
        EXPECT_TRUE(equal(placed(whole, mesh, {from}).redistribute({Partial(op)}).full_tensor(), whole));
      }
    }
  });
}

// The ones that fill up a product must not be summed.
TEST(DTensor, AReductionEndsBeforeAnotherBegins) {
  run_ranks(4, [](int) {
    const DeviceMesh mesh = init_device_mesh({2, 2}, {"dp", "tp"});
    const Tensor whole = numbered({4, 3});
    const DTensor sum = placed(whole, mesh, {Replicate(), Partial()});
    EXPECT_TRUE(equal(sum.redistribute({Partial(ReduceOp::product), Replicate()}).full_tensor(), whole));
  });
}

TEST(DTensor, DistributesTheValuesOfOneRank) {
  for (const int n : {1, 2, 4, 6})
    run_ranks(n, [n](int rank) {
      const std::int64_t rows = n == 1 ? 1 : 2;
      const DeviceMesh mesh = init_device_mesh({rows, n / rows}, {"dp", "tp"});
      const Tensor whole = numbered({5, 3});
      for (const int source : {0, n > 2 ? 1 : 0}) {
        const bool is_source = mesh.get_coordinate() == std::vector<int>{source, source};
        const Tensor own = is_source ? whole : full({5, 3}, -rank);
        for (const Placements& placements : placements_of(2)) {
          const auto is_partial = [](const Placement& p) { return p == Placement(Partial()); };
          if (std::ranges::any_of(placements, is_partial)) continue;
          const DTensor made = distribute_tensor(own, mesh, placements, source);
          expect_whole(made, whole, made.str());
          EXPECT_TRUE(equal(own, is_source ? whole : full({5, 3}, -rank))) << "the argument is as before";
          expect_whole(distribute_tensor(whole, mesh, placements, std::nullopt), whole, made.str());
        }
      }
    });
}

TEST(DTensor, LocalTensorsAreSharedAndShapesInferred) {
  run_ranks(4, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2, 2}, {"dp", "tp"});
    const Tensor local = full({3, 2}, rank);
    const DTensor made = DTensor::from_local(local, mesh, {Shard(-1), Replicate()});
    EXPECT_EQ(made.shape(), (Shape{3, 4}));
    EXPECT_EQ(made.to_local().raw(), local.raw());
    EXPECT_EQ(made.redistribute({Shard(1), Replicate()}).to_local().raw(), local.raw());
    EXPECT_EQ(made.str(), "DTensor([3, 4] f32; dp=2: Shard(1), tp=2: Replicate(); local [3, 2])");
    EXPECT_EQ(made.local_part().offset, (Shape{0, rank / 2 * 2}));
    const DTensor scalar = DTensor::from_local(full({}, 1), mesh, {Partial(), Partial()});
    EXPECT_EQ(scalar.full_tensor().item<int>(), 4);
  });
}

TEST(DTensor, ARankOutsideTheMeshHasNoElements) {
  run_ranks(3, [](int rank) {
    const DeviceMesh mesh({2, 0}, {2}, {"tp"});
    const DTensor made = distribute_tensor(numbered({4, 2}), mesh, {Shard(0)});
    EXPECT_EQ(made.to_local().numel(), rank == 1 ? 0 : 4);
    if (rank != 1) {
      EXPECT_EQ(made.to_local().to_vector<int>()[0], rank == 2 ? 0 : 4);
    }
    EXPECT_EQ(made.full_tensor().numel(), rank == 1 ? 0 : 8);
    EXPECT_EQ(made.redistribute({Shard(1)}).placements(), Placements{Shard(1)});
  });
}

TEST(DTensor, ErrorsSayWhatWouldBeRight) {
  run_ranks(2, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2}, {"tp"});
    const DTensor rows = DTensor::from_local(full({2, 3}, rank), mesh, {Shard(0)});
    const auto refuses = [](const std::vector<std::string>& parts, const auto& call) {
      expect_error(Errc::invalid_argument, parts, call);
    };
    refuses({"redistribute at dtensor_test.cpp:", "2 placements for a mesh (tp=2)"}, [&] {
      rows.redistribute({Shard(0), Shard(0)});
    });
    refuses({"Shard(2) of a tensor that has 2 axes"}, [&] { rows.redistribute({Shard(2)}); });
    refuses({"Partial(band); it can be sum, avg, product, min or max"},
            [&] { rows.redistribute({Partial(ReduceOp::band)}); });
    refuses({"Partial(max) cannot become Partial(sum)"}, [&] {
      DTensor::from_local(full({2}, 1), mesh, {Partial(ReduceOp::max)}).redistribute({Partial()});
    });
    refuses({"from_local at dtensor_test.cpp:", "shape [2, 3]; this rank's part of [7, 3] is"}, [&] {
      DTensor::from_local(full({2, 3}, 1), mesh, {Shard(0)}, Shape{7, 3});
    });
    refuses({"Partial has from_local()"}, [&] { distribute_tensor(full({2}, 1), mesh, {Partial()}); });
    refuses({"tp=2 from rank 2"}, [&] { distribute_tensor(full({2}, 1), mesh, {Shard(0)}, 2); });
    refuses({"undefined"}, [&] { distribute_tensor(Tensor(), mesh, {Shard(0)}); });
  });
}

// What each rank sends for the change itself: all that it sends, less what it sends without the change.
std::vector<std::uint64_t> bytes_sent(const Shape& mesh_shape, const Shape& shape, const Placements& from,
                                      const Placements& to) {
  const test::ScopedEnv rings("DIST_ALGO", "all_gather:ring,reduce_scatter:ring,all_reduce:ring");
  const auto all_of = [&](bool changes) {
    const sim::Report report = sim::run({.ranks = static_cast<int>(product(mesh_shape))}, [&](int) {
      init_process_group();
      const DeviceMesh mesh = mesh_shape.size() == 1 ? init_device_mesh(mesh_shape, {"tp"})
                                                     : init_device_mesh(mesh_shape, {"dp", "tp"});
      const DTensor before = placed(numbered(shape), mesh, from);
      if (changes) static_cast<void>(before.redistribute(to));
      destroy_process_group();
    });
    EXPECT_EQ(report.text(), "");
    return report.traffic;
  };
  const auto with = all_of(true), without = all_of(false);
  std::vector<std::uint64_t> sent;
  for (std::size_t rank = 0; rank < with.size(); ++rank)
    sent.push_back(with[rank].bytes_sent - without[rank].bytes_sent);
  return sent;
}

TEST(DTensorBytes, AreTheTablesOnEveryRankWhereSizesDivide) {
  const Shape shape{24, 48};
  const std::uint64_t all = 24 * 48 * 4;
  for (const std::uint64_t n : {1, 2, 3, 4, 6, 8}) {
    const auto expect = [&](const Placement& from, const Placement& to, std::uint64_t bytes) {
      EXPECT_EQ(bytes_sent({static_cast<std::int64_t>(n)}, shape, {from}, {to}), std::vector(n, bytes))
          << n << " ranks, " << to_string(from) << " to " << to_string(to);
    };
    for (const std::int64_t axis : {0, 1}) {
      expect(Shard(axis), Replicate(), (n - 1) * all / n);
      expect(Shard(axis), Shard(1 - axis), (n - 1) * all / n / n);
      expect(Shard(axis), Partial(), 0);
      expect(Replicate(), Shard(axis), 0);
      expect(Partial(), Shard(axis), (n - 1) * all / n);
    }
    expect(Replicate(), Partial(), 0);
    expect(Partial(), Replicate(), 2 * (n - 1) * all / n);
    expect(Shard(0), Shard(0), 0);
  }
}

TEST(DTensorBytes, AreTheTablesMeanWhereSizesDoNotDivide) {
  const Shape shape{5, 7};
  const std::uint64_t all = 5 * 7 * 4;
  for (const std::int64_t n : {2, 3, 4, 6, 8}) {
    const auto expect = [&](const Placement& from, const Placement& to, std::uint64_t bytes) {
      const auto sent = bytes_sent({n}, shape, {from}, {to});
      EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), std::uint64_t{0}), bytes)
          << n << " ranks, " << to_string(from) << " to " << to_string(to);
    };
    const auto others = static_cast<std::uint64_t>(n - 1);
    expect(Shard(0), Replicate(), others * all);
    expect(Shard(1), Replicate(), others * all);
    expect(Partial(), Shard(0), others * all);
    expect(Partial(), Shard(1), others * all);
    expect(Partial(), Replicate(), 2 * others * all);
    std::uint64_t kept = 0;  // the block that is a rank's before and after
    for (int rank = 0; rank < n; ++rank) {
      const Shape rows = local_part(shape, {n}, {Shard(0)}, {rank}).shape;
      const Shape columns = local_part(shape, {n}, {Shard(1)}, {rank}).shape;
      kept += static_cast<std::uint64_t>(rows[0] * columns[1]) * 4;
    }
    expect(Shard(0), Shard(1), all - kept);
  }
}

// Each axis moves what its line holds altogether: with two axes, less than the whole tensor.
TEST(DTensorBytes, OfTwoAxesAreThoseOfEachMove) {
  const Shape shape{24, 48};
  const std::uint64_t all = 24 * 48 * 4;
  const auto expect = [&](const Placements& from, const Placements& to, std::uint64_t bytes) {
    EXPECT_EQ(bytes_sent({2, 3}, shape, from, to), std::vector<std::uint64_t>(6, bytes))
        << to_string(from[0]) << ", " << to_string(from[1]);
  };
  expect({Shard(0), Shard(0)}, {Replicate(), Replicate()}, all / 2 * 2 / 3 + all / 2);
  expect({Shard(0), Shard(1)}, {Shard(0), Replicate()}, all / 2 * 2 / 3);
  expect({Replicate(), Partial()}, {Shard(0), Shard(0)}, all / 2 * 2 / 3);
  expect({Partial(), Partial()}, {Shard(0), Shard(0)}, all / 2 + all / 2 * 2 / 3);
  expect({Partial(), Shard(1)}, {Replicate(), Shard(1)}, all / 3);
  expect({Shard(0), Replicate()}, {Shard(0), Shard(0)}, 0);
}

}  // namespace
}  // namespace dist
