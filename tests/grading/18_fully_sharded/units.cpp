// Lab 18, part 2: one unit, its gather and its reduction.
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab18 {
namespace {

using judge::misconception;

using Values = std::vector<Numbers>;  // [parameter]

Values draw_values(judge::Random& random, const std::vector<Shape>& shapes) {
  Values values;
  for (const Shape& shape : shapes) values.push_back(draw_numbers(random, elements_of(shape)));
  return values;
}

Numbers shard_of(const std::vector<Shape>& shapes, const Values& values, int rank, int n) {
  return right_shard(shapes, rank, n, [&](std::size_t parameter, std::int64_t at) {
    return values[parameter][static_cast<std::size_t>(at)];
  });
}

std::string text_of(const std::vector<Shape>& shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes) texts.push_back(fmt::format("{}", fmt::join(shape, " x ")));
  return fmt::format("a unit of {}", fmt::join(texts, ", "));
}

std::vector<Json> unit_tasks(const char* call, const std::vector<Shape>& shapes, const Values& values,
                             int n) {
  std::vector<Json> tasks;
  for (int rank = 0; rank < n; ++rank)
    tasks.push_back({{"call", call},
                     {"shapes", shapes},
                     {"seconds", 1e-6},
                     {"shapes_before", {{2 * n, 3}}},
                     {"shard_before", Numbers(6, 1)},
                     {"shard", shard_of(shapes, values, rank, n)}});
  return tasks;
}

// All shards, one after the other, cut into parameters as if no rank's parts were apart.
Values ranks_after_ranks(const std::vector<Shape>& shapes, const Values& values, int n) {
  Numbers all;
  for (int rank = 0; rank < n; ++rank) {
    const Numbers shard = shard_of(shapes, values, rank, n);
    all.insert(all.end(), shard.begin(), shard.end());
  }
  Values cut;
  auto next = all.begin();
  for (const Shape& shape : shapes) {
    cut.emplace_back(next, next + elements_of(shape));
    next += elements_of(shape);
  }
  return cut;
}

// Gradients of all ranks, and what every element of the shard had before.
struct Reduced {
  std::vector<Values> gradients;
  double before = 0;
  std::vector<Json> tasks;
};

Reduced draw_reduced(judge::Random& random, int n, const std::vector<Shape>& shapes) {
  Reduced drawn{{}, static_cast<double>(random.between(100, 900)), {}};
  drawn.tasks = unit_tasks("reduce", shapes, draw_values(random, shapes), n);
  for (Json& task : drawn.tasks) {
    drawn.gradients.push_back(draw_values(random, shapes));
    task.update({{"values", drawn.gradients.back()}, {"before", drawn.before}});
  }
  return drawn;
}

Numbers reduced(const Reduced& drawn, const std::vector<Shape>& shapes, int rank, double divisor,
                double before) {
  const int n = static_cast<int>(drawn.gradients.size());
  Values sums = drawn.gradients[0];
  for (std::size_t other = 1; other < drawn.gradients.size(); ++other)
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t at = 0; at < sums[i].size(); ++at) sums[i][at] += drawn.gradients[other][i][at];
  Numbers shard = shard_of(shapes, sums, rank, n);
  for (double& element : shard) element = element / divisor + before;
  return shard;
}

void diagnose_reduced(const Reduced& drawn, const std::vector<Shape>& shapes, int rank, const Numbers& got) {
  const double n = static_cast<double>(drawn.gradients.size());
  const auto is = [&](double divisor, double before) {
    return are_near(reduced(drawn, shapes, rank, divisor, before), got);
  };
  if (is(n * n, drawn.before)) {
    misconception("divides_twice",
                  "the gradients are divided by n twice, so they are n times too small; fix: do not divide "
                  "after ReduceOp::avg");
  } else if (is(1, drawn.before)) {
    misconception("sums_without_averaging",
                  "this is the sum over the ranks, not the mean; fix: ReduceOp::avg");
  } else if (is(n, 0)) {
    misconception("overwrites_the_gradient",
                  "the mean has replaced the gradient that was there; fix: add, because backward accumulates "
                  "(several batches for one step)");
  }
}

bool gather_is_right(const Json& reply, const std::vector<Shape>& shapes, const Values& values,
                     const Values& of_first, int n, const std::string& about) {
  const Values got = reply.at("values");
  if (reply.at("shapes") != Json(shapes)) {
    ADD_FAILURE() << fmt::format("{}: finish_gather must return shapes {}; it returned {}", about,
                                 Json(shapes).dump(), reply.at("shapes").dump());
    return false;
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (are_near(values[i], got.at(i))) continue;
    if (got == ranks_after_ranks(shapes, values, n))
      misconception("shards_are_not_parameters",
                    "what was gathered was cut into parameters from its beginning, but it is one rank's "
                    "rows of all parameters after the other's; fix: copy each rank's rows to their places");
    else if (got == of_first)
      misconception(
          "gathers_share_a_buffer",
          "the second gather in flight has the first one's parameters; fix: each has shards of its own");
    ADD_FAILURE() << fmt::format("{}: parameter {} of what finish_gather returned: {}", about, i,
                                 difference(values[i], got.at(i)));
    return false;
  }
  if (reply.at("given_up")) return true;
  misconception(
      "keeps_the_shards",
      "gather.shards still has its memory, so the unit is in memory twice; fix: gather.shards = {}");
  ADD_FAILURE() << about << ": after finish_gather, gather.shards must be given up (= {})";
  return false;
}

// Gathers or reduces two units; all is right, or the test fails.
judge::SimRun gathered(judge::Random& random, int n, const std::vector<Shape>& shapes) {
  const Values both[] = {draw_values(random, shapes), draw_values(random, shapes)};
  auto tasks = unit_tasks("gather", shapes, both[0], n);
  for (int rank = 0; rank < n; ++rank)
    tasks[static_cast<std::size_t>(rank)]["other_shard"] = shard_of(shapes, both[1], rank, n);
  auto done = run(tasks);
  const auto replies = answers(done);
  for (std::size_t rank = 0; rank < replies.size(); ++rank)
    for (std::size_t which = 0; which < 2; ++which)
      if (!gather_is_right(replies[rank].at(which), shapes, both[which], both[0], n,
                           fmt::format("{}, {} ranks, rank {}, {} of two gathers in flight", text_of(shapes),
                                       n, rank, which == 0 ? "first" : "second")))
        return done;
  return done;
}

judge::SimRun averaged(judge::Random& random, int n, const std::vector<Shape>& shapes) {
  const auto drawn = draw_reduced(random, n, shapes);
  auto done = run(drawn.tasks);
  const auto replies = answers(done);
  for (int rank = 0; rank < static_cast<int>(replies.size()); ++rank) {
    const Json& reply = replies[static_cast<std::size_t>(rank)];
    const Numbers got = reply.at("gradient");
    Numbers right = reduced(drawn, shapes, rank, n, drawn.before);
    if (!are_near(right, got)) {
      diagnose_reduced(drawn, shapes, rank, got);
      ADD_FAILURE() << fmt::format("{}, {} ranks: unit.gradient of rank {} after a reduction: {}",
                                   text_of(shapes), n, rank, difference(right, got));
      return done;
    }
    // The same for three times these gradients, added to 0.
    const Numbers other = reduced(drawn, shapes, rank, n / 3.0, 0), got_other = reply.at("other_gradient");
    if (!are_near(other, got_other)) {
      ADD_FAILURE() << fmt::format(
          "{}, {} ranks, two reductions in flight: the second unit's gradient on rank "
          "{}: {}",
          text_of(shapes), n, rank, difference(other, got_other));
      return done;
    }
    if (reply.at("given_up")) continue;
    ADD_FAILURE() << "after finish_reduction, both tensors of the reduction must be given up (= {})";
    return done;
  }
  return done;
}

// Expects it for two units of these shapes, and for what is besides them.
void expect_one_call(const judge::SimRun& done, const std::string& name, const std::vector<Shape>& shapes,
                     int n, const Traffic& more) {
  constexpr std::uint64_t units = 2;
  const std::uint64_t bytes = 8 * static_cast<std::uint64_t>(padded_elements(shapes, n));
  const Traffic right{units + more.calls, units * bytes + more.bytes}, got = traffic_of(done, 0, name);
  if (got.calls == right.calls && got.bytes == right.bytes) return;
  if (got.calls == units * shapes.size() + more.calls)
    misconception("a_collective_for_each_parameter",
                  "every parameter has a collective of its own, and each costs the overhead of its messages; "
                  "fix: one collective for the whole shard");
  ADD_FAILURE() << fmt::format(
      "{} and another one like it, {} ranks: rank 0 must call {} {} times, with {} bytes of all ranks; it "
      "called "
      "it {} times, with {} bytes in all",
      text_of(shapes), n, name, right.calls, right.bytes, got.calls, got.bytes);
}

}  // namespace

void expect_unit(judge::Random& random, int n, const std::vector<Shape>& shapes) {
  const auto values = draw_values(random, shapes);
  std::vector<Json> tasks;
  for (int rank = 0; rank < n; ++rank)
    tasks.push_back({{"call", "make_unit"}, {"shapes", shapes}, {"values", values}});
  const auto done = run(tasks);
  const auto replies = answers(done);
  for (int rank = 0; rank < static_cast<int>(replies.size()); ++rank) {
    for (const char* name : {reduce_scatter, all_gather}) {
      if (traffic_of(done, rank, name).calls == 0) continue;
      ADD_FAILURE() << fmt::format("make_unit, {} ranks: it must not communicate; rank {} called {}", n, rank,
                                   name);
      return;
    }
    const Json& reply = replies[static_cast<std::size_t>(rank)];
    const Numbers right = shard_of(shapes, values, rank, n);
    const bool has_shapes = reply.at("shapes") == Json(shapes);
    if (has_shapes && are_near(right, reply.at("shard")) &&
        are_near(Numbers(right.size(), 0), reply.at("gradient")))
      continue;
    const auto count = std::accumulate(
        shapes.begin(), shapes.end(), std::size_t{0},
        [](auto sum, auto& shape) { return sum + static_cast<std::size_t>(elements_of(shape)); });
    if (reply.at("shard").size() >= count && right.size() < count)
      misconception("keeps_everything",
                    "the shard holds all rows, so no memory is saved; fix: copy this rank's rows only");
    ADD_FAILURE() << fmt::format("make_unit, {}, {} ranks, rank {}: {}", text_of(shapes), n, rank,
                                 !has_shapes ? "unit.shapes must be the shapes of the parameters"
                                 : !are_near(right, reply.at("shard"))
                                     ? "unit.shard: " + difference(right, reply.at("shard"))
                                     : "unit.gradient must be zeros, as many as unit.shard has elements");
    return;
  }
}

void expect_small_units(int n) {
  constexpr std::int64_t width = 48, count = 8;
  const std::vector<Shape> shapes{{width, width}, {width}};
  const Json task{{"call", "make_units"}, {"shapes", shapes}, {"count", count}};
  const auto done = run(std::vector<Json>(static_cast<std::size_t>(n), task));
  if (answers(done).empty()) return;
  // The shards and their gradients; one unit whole, once more in shards, and half of one for everything
  // small.
  const double whole = 8.0 * static_cast<double>(padded_elements(shapes, n)), own = 2.0 * count * whole / n;
  for (std::size_t rank = 0; rank < done.report.peak_buffer_bytes.size(); ++rank) {
    const auto peak = static_cast<double>(done.report.peak_buffer_bytes[rank]);
    if (peak <= own + 2.5 * whole) continue;
    misconception(
        "keeps_everything",
        "the memory of whole parameters is kept: a view (narrow) of a larger tensor keeps all of it; "
        "fix: copy this rank's rows into a tensor of their size");
    ADD_FAILURE() << fmt::format(
        "make_unit, {} units of {:.0f} bytes, {} ranks: their shards and gradients have {:.0f} bytes, so "
        "rank "
        "{} may hold {:.0f} at the same time; it held {:.0f}",
        count, whole, n, own, rank, own + 2.5 * whole, peak);
    return;
  }
}

void expect_gathered(judge::Random& random, int n, const std::vector<Shape>& shapes) {
  gathered(random, n, shapes);
}

void expect_reduced(judge::Random& random, int n, const std::vector<Shape>& shapes) {
  averaged(random, n, shapes);
}

void expect_unit_traffic(judge::Random& random, int n, const std::vector<Shape>& shapes) {
  const auto gather = gathered(random, n, shapes);
  if (testing::Test::HasFailure()) return;
  expect_one_call(gather, all_gather, shapes, n,
                  {1, 8 * static_cast<std::uint64_t>(padded_elements({{2 * n, 3}}, n))});
  if (testing::Test::HasFailure()) return;
  const auto reduction = averaged(random, n, shapes);
  if (testing::Test::HasFailure()) return;
  expect_one_call(reduction, reduce_scatter, shapes, n, {});
}

}  // namespace lab18
