// Lab 17, part 5: the norm of the gradient, and clipping.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab17 {
namespace {

using judge::misconception;

struct Drawn {
  // [part]: the shards, by the coordinates along the axes that shard it.
  std::vector<std::map<Ints, Numbers>> shards;
  double limit = 0;  // max_norm
};

double squares(const Numbers& elements) {
  return std::inner_product(elements.begin(), elements.end(), elements.begin(), 0.0);
}

Ints shard_of(const Grid& grid, const Part& part, int rank) {
  return some_of(right_coordinates(grid, rank), grid.axes(part.over));
}

double right_norm(const Drawn& drawn) {
  double sum = 0;
  for (const auto& shards : drawn.shards)
    for (const auto& [place, elements] : shards) sum += squares(elements);
  return std::sqrt(sum);
}

Drawn draw(judge::Random& random, const Norm& norm) {
  Drawn drawn;
  for (const Part& part : norm.parts) {
    drawn.shards.emplace_back();
    for (const int rank : norm.grid.ranks) {
      const Ints shard = shard_of(norm.grid, part, rank);
      if (drawn.shards.back().contains(shard)) continue;
      Numbers elements;
      const bool has_none = part.ends_with_none && rank == norm.grid.ranks.back();
      for (int count = has_none ? 0 : random.between(part.fewest, part.most); count > 0; --count)
        elements.push_back(norm.size * random.between(-999'983, 999'983) / 999'983);
      drawn.shards.back()[shard] = elements;
    }
  }
  drawn.limit = norm.limit * right_norm(drawn);
  return drawn;
}

const Numbers& elements_of(const Drawn& drawn, const Norm& norm, std::size_t part, int rank) {
  return drawn.shards[part].at(shard_of(norm.grid, norm.parts[part], rank));
}

judge::SimRun play_norm(const Drawn& drawn, const Norm& norm, bool after_another = false) {
  std::vector<Json> tasks;
  for (int rank = 0; rank < static_cast<int>(norm.grid.ranks.size()); ++rank) {
    Json task{{"call", "norm"},
              {"grid", as_json(norm.grid)},
              {"flattened", Json::array()},
              {"gradients", Json::array()},
              {"after_another", after_another},
              {"max_norm", norm.limit > 0 ? Json(drawn.limit) : Json(nullptr)}};
    for (std::size_t i = 0; i < norm.parts.size(); ++i)
      task["gradients"].push_back(
          {{"over", norm.parts[i].over}, {"values", elements_of(drawn, norm, i, rank)}});
    tasks.push_back(task);
  }
  return run(tasks, fmt::format("a mesh of {}", text(norm.grid)));
}

// What wrong ideas give as the square of the norm: value(part, rank) is added up over the parts, and over the
// ranks that each idea counts.
struct Sums {
  const Drawn& drawn;
  const Norm& norm;
  int rank;

  double of(std::size_t part, int other) const { return squares(elements_of(drawn, norm, part, other)); }
  double whole(std::size_t part) const {
    double sum = 0;
    for (const auto& [place, elements] : drawn.shards[part]) sum += squares(elements);
    return sum;
  }
  double over_parts(const std::function<double(std::size_t)>& value) const {
    double sum = 0;
    for (std::size_t part = 0; part < norm.parts.size(); ++part) sum += value(part);
    return sum;
  }
  double local() const {
    return over_parts([&](std::size_t part) { return of(part, rank); });
  }
  double over_ranks(const Names& along, const std::function<double(int)>& value) const {
    double sum = 0;
    for (const int other : right_slice(norm.grid, along, rank)) sum += value(other);
    return sum;
  }
  double all_ranks() const {
    return over_parts([&](std::size_t part) {
      return over_ranks(norm.grid.names, [&](int other) { return of(part, other); });
    });
  }
  // What is sharded, summed over all ranks for each axis that shards it.
  double all_ranks_for_each_axis() const {
    return over_parts([&](std::size_t part) {
      const Names& over = norm.parts[part].over;
      if (over.empty()) return of(part, rank);
      const auto ranks = static_cast<double>(norm.grid.ranks.size());
      return std::pow(ranks, static_cast<double>(over.size() - 1)) *
             over_ranks(norm.grid.names, [&](int other) { return of(part, other); });
    });
  }
  // Everything summed over each axis that shards something.
  double sharding_axes() const {
    Names axes;
    for (const std::string& name : norm.grid.names)
      if (std::ranges::any_of(norm.parts,
                              [&](const Part& part) { return std::ranges::count(part.over, name) > 0; }))
        axes.push_back(name);
    return over_parts(
        [&](std::size_t part) { return over_ranks(axes, [&](int other) { return of(part, other); }); });
  }
  double one_axis_only(bool first) const {
    return over_parts([&](std::size_t part) {
      const Names& over = norm.parts[part].over;
      if (over.empty()) return whole(part);
      return over_ranks({first ? over.front() : over.back()}, [&](int other) { return of(part, other); });
    });
  }
  double sharded_only() const {
    return over_parts([&](std::size_t part) { return norm.parts[part].over.empty() ? 0 : whole(part); });
  }
  // The norms of shards, added up; replicas once.
  double roots() const {
    return over_parts([&](std::size_t part) {
      double sum = 0;
      for (const auto& [place, elements] : drawn.shards[part]) sum += std::sqrt(squares(elements));
      return sum * sum;
    });
  }
};

void diagnose_norm(const Sums& sums, double right, double got) {
  const double square = got * got;
  const auto is = [&](double sum) { return are_near(square, sum, 1e-11); };
  if (is(sums.local()))
    misconception("norm_of_local_shards",
                  "this is the norm of this rank's own elements; fix: add up the squares over each axis that "
                  "shards a parameter");
  else if (is(sums.all_ranks()) || is(sums.sharding_axes()))
    misconception(
        "counts_replicas",
        "elements that several ranks have were counted several times; fix: sum each gradient over the "
        "axes in its sharded_over, and over no others");
  else if (is(sums.all_ranks_for_each_axis()))
    misconception(
        "forgets_the_group",
        "the sums go over all ranks, where they should go along one axis; fix: pass this axis's group to "
        "all_reduce: {.group = mesh.groups.at(axis)}");
  else if (is(sums.roots()))
    misconception(
        "root_before_the_sum",
        "the ranks' norms were added up; fix: add up the squares, and take the root once, at the end");
  else if (is(sums.one_axis_only(true)) || is(sums.one_axis_only(false)))
    misconception(
        "one_axis_only",
        "a gradient that is sharded over several axes was summed over one of them; fix: sum it over "
        "each of its axes, one after the other");
  else if (is(sums.sharded_only()))
    misconception(
        "forgets_the_replicated",
        "replicated gradients do not count; fix: they need no all_reduce, but their squares belong to "
        "the norm");
  else if (are_near(got, right * right, 1e-11))
    misconception("no_root", "this is the square of the norm; fix: take the root");
  else if (are_near(got, right, keeps_f32))
    misconception("single_precision", "the norm has the digits of f32; fix: add up and send f64");
}

std::string about(const Norm& norm) {
  std::string parts;
  std::set<Names> named;
  for (const Part& part : norm.parts) {
    if (!named.insert(part.over).second) continue;
    parts += part.over.empty() ? "; some replicated"
                               : fmt::format("; some sharded over {}", fmt::join(part.over, " and "));
  }
  return fmt::format("a mesh of {}, {} gradients{}", text(norm.grid), norm.parts.size(), parts);
}

// The norm itself on every rank, and, without a limit, the gradients as they were.
bool norms_are_right(const Drawn& drawn, const Norm& norm, const std::vector<Json>& replies) {
  const double right = right_norm(drawn);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const int rank = static_cast<int>(i);
    const double got = number_of(replies[i].at("norm"));
    if (!are_near(got, right)) {
      const double after = right * std::min(1.0, drawn.limit / (right + 1e-6));
      if (norm.limit > 0 && are_near(got, after, 1e-9))
        misconception("norm_after_clipping",
                      "this is the norm after the gradients were multiplied; fix: return the norm before");
      else
        diagnose_norm({drawn, norm, rank}, right, got);
      ADD_FAILURE() << fmt::format("{}: the norm must be {}; on rank {} it is {}", about(norm), right, rank,
                                   got);
      return false;
    }
    for (std::size_t part = 0; norm.limit == 0 && part < norm.parts.size(); ++part) {
      Numbers now;
      for (const Json& bits : replies[i].at("values").at(part)) now.push_back(number_of(bits));
      if (now == elements_of(drawn, norm, part, rank)) continue;
      misconception("changes_the_gradients",
                    "gradient_norm has changed the gradients; fix: square a copy, or number by number");
      ADD_FAILURE() << fmt::format("{}: on rank {} gradient {} was changed", about(norm), rank, part);
      return false;
    }
  }
  return !replies.empty();
}

int sharded_over(const Norm& norm, const std::string& axis) {
  return static_cast<int>(std::ranges::count_if(
      norm.parts, [&](const Part& part) { return std::ranges::count(part.over, axis) > 0; }));
}

void diagnose_scale(const Drawn& drawn, const Norm& norm, int rank, const std::vector<Numbers>& got) {
  const double right = right_norm(drawn), limit = drawn.limit;
  const auto all_scaled = [&](const std::function<double(std::size_t)>& factor) {
    for (std::size_t part = 0; part < norm.parts.size(); ++part) {
      const Numbers& before = elements_of(drawn, norm, part, rank);
      const auto is_scaled = [&](double a, double b) { return are_near(a * factor(part), b, 1e-11); };
      if (!std::ranges::equal(before, got[part], is_scaled)) return false;
    }
    return true;
  };
  const bool unchanged = all_scaled([](std::size_t) { return 1; });
  if (unchanged && limit >= right) {
    misconception("clips_only_above",
                  "the gradients are as they were, because their norm is not above max_norm; but max_norm / "
                  "(norm + 1e-6) is below 1 just below it, too; fix: multiply by the smaller of this and 1");
    return;
  }
  if (unchanged) {
    misconception(
        "not_in_place",
        "the memory of the gradients is as it was; fix: multiply in place, values.mul_(factor), because "
        "others hold these tensors, too");
    return;
  }
  const auto capped = [](double factor) { return std::min(1.0, factor); };
  const Sums sums{drawn, norm, rank};
  if (all_scaled([&](std::size_t) { return limit / (right + 1e-6); })) {
    misconception("always_scales",
                  "gradients that are small enough were made larger; fix: the factor is at most 1");
    return;
  }
  if (all_scaled([&](std::size_t) { return capped(limit / right); })) {
    misconception(
        "no_epsilon",
        "1e-6 is missing in the denominator, so a norm of 0 divides by 0; fix: max_norm / (norm + 1e-6)");
    return;
  }
  if (all_scaled([&](std::size_t) { return capped(limit / (std::sqrt(sums.local()) + 1e-6)); })) {
    misconception(
        "clips_by_its_own_norm",
        "this rank's factor comes from its own elements, so the ranks multiply by different factors; "
        "fix: use the norm of the whole gradient");
    return;
  }
  const auto of_part = [&](std::size_t part) { return capped(limit / (std::sqrt(sums.whole(part)) + 1e-6)); };
  const auto of_shard = [&](std::size_t part) {
    return capped(limit / (std::sqrt(sums.of(part, rank)) + 1e-6));
  };
  if (all_scaled(of_part) || all_scaled(of_shard)) {
    misconception(
        "clips_each_gradient",
        "each gradient was limited by its own norm, which changes the direction of the step; fix: one "
        "factor for all gradients, from the norm of all");
    return;
  }
  for (std::size_t times = 2; times <= norm.grid.ranks.size() * (norm.parts.size() + 1); ++times) {
    const double epsilon = 1e-6 * static_cast<double>(times);
    if (!all_scaled([&](std::size_t) { return capped(limit / (right + epsilon)); })) continue;
    misconception("epsilon_for_each_rank",
                  fmt::format("1e-6 was added {} times, so the result depends on how many ranks or gradients "
                              "there are; fix: add it once, to the norm",
                              times));
    return;
  }
}

bool gradients_are_clipped(const Drawn& drawn, const Norm& norm, const std::vector<Json>& replies) {
  const double right = std::min(1.0, drawn.limit / (right_norm(drawn) + 1e-6));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const int rank = static_cast<int>(i);
    std::vector<Numbers> got;
    for (const auto& values : replies[i].at("values")) {
      got.emplace_back();
      for (const Json& bits : values) got.back().push_back(number_of(bits));
    }
    if (got.size() != norm.parts.size()) {
      ADD_FAILURE() << fmt::format("{}: rank {} was given {} gradients to clip; afterwards there are {}",
                                   about(norm), rank, norm.parts.size(), got.size());
      return false;
    }
    for (std::size_t part = 0; part < norm.parts.size(); ++part) {
      const Numbers& before = elements_of(drawn, norm, part, rank);
      const auto is_scaled = [&](double a, double b) { return are_near(a * right, b, 1e-11); };
      if (std::ranges::equal(before, got[part], is_scaled)) continue;
      diagnose_scale(drawn, norm, rank, got);
      ADD_FAILURE() << fmt::format(
          "{}: the norm is {}, max_norm is {}, so all gradients are multiplied by {}; on rank {} gradient {} "
          "was "
          "{{{}}} and is now {{{}}}",
          about(norm), right_norm(drawn), drawn.limit, right, rank, part, fmt::join(before, ", "),
          fmt::join(got[part], ", "));
      return false;
    }
  }
  return !replies.empty();
}

// The same question after another one in the same program has the same answers as by itself.
void expect_the_same_after_another(const Drawn& drawn, const Norm& norm, const std::vector<Json>& alone) {
  const auto keeps = [] {
    misconception("keeps_something",
                  "the call is right in a new program, but not after another call in the same program, so "
                  "something is kept from call to call; fix: keep nothing in a static or global variable");
  };
  const auto done = play_norm(drawn, norm, true);
  if (!done.report.findings.empty() || !done.report.failures.empty()) keeps();
  const auto replies = answers(done);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const double right = number_of(alone[rank].at("norm")), got = number_of(replies[rank].at("norm"));
    if (are_near(right, got) && replies[rank].at("values") == alone[rank].at("values")) continue;
    keeps();
    ADD_FAILURE() << fmt::format(
        "{}: on rank {} the norm is {}; after another call in the same program it is {}, {}", about(norm),
        rank, right, got,
        are_near(right, got) ? "and the gradients are others than before" : "for the same gradients");
    return;
  }
}

}  // namespace

void expect_norm(judge::Random& random, const Norm& norm) {
  const auto drawn = draw(random, norm);
  const auto replies = answers(play_norm(drawn, norm));
  if (norms_are_right(drawn, norm, replies)) expect_the_same_after_another(drawn, norm, replies);
}

void expect_same_bits(judge::Random& random, const Norm& norm) {
  const auto drawn = draw(random, norm);
  const auto replies = answers(play_norm(drawn, norm));
  if (!norms_are_right(drawn, norm, replies)) return;
  for (std::size_t rank = 1; rank < replies.size(); ++rank) {
    const Json &one = replies[0].at("norm"), &other = replies[rank].at("norm");
    if (one == other) continue;
    misconception(
        "different_bits",
        "the norms differ in their last bits, so in time the replicas of a parameter differ; fix: let "
        "all ranks add the same numbers in the same order: use what all_reduce returns as it is");
    ADD_FAILURE() << fmt::format("{}: the norm on rank 0 is {:a}, on rank {} {:a}", about(norm),
                                 number_of(one), rank, number_of(other));
    return;
  }
}

void expect_reductions(judge::Random& random, const Norm& norm) {
  const auto drawn = draw(random, norm);
  const auto done = play_norm(drawn, norm);
  const auto replies = answers(done);
  if (!norms_are_right(drawn, norm, replies)) return;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    std::size_t known = 0;
    const auto calls = reductions(done, static_cast<int>(rank));
    for (const std::string& axis : norm.grid.names) {
      const std::uint32_t context = replies[rank].at("groups").at(axis).at("context");
      const int parts = sharded_over(norm, axis), most = parts > 0 ? 1 : 0;
      int count = 0;
      std::uint64_t bytes = 0;
      for (const Reduction& call : calls)
        if (call.context == context) ++count, bytes += call.bytes;
      known += static_cast<std::size_t>(count);
      if (count <= most && bytes <= 8 * static_cast<std::uint64_t>(parts)) continue;
      if (count > most && most == 0)
        misconception("reduces_over_replicas",
                      "an all_reduce goes over an axis that shards nothing; fix: leave these axes out");
      else if (count > most && norm.limit > 0 && count == 2)
        misconception("computes_the_norm_twice",
                      "the norm was computed twice; fix: call gradient_norm once and keep the result");
      else if (count > most)
        misconception(
            "an_all_reduce_for_each_gradient",
            "the latency of an all_reduce was paid for each gradient; fix: put the sums of all gradients "
            "that are sharded over the axis into one tensor");
      else
        misconception(
            "sends_elements",
            "more than one number per gradient was sent; fix: add up the squares of this rank's elements "
            "first, and send the sums");
      ADD_FAILURE() << fmt::format(
          "{}: along {} rank {} must call all_reduce {} times, with at most {} bytes; it called it {} times, "
          "with {} "
          "bytes",
          about(norm), axis, rank, most, 8 * parts, count, bytes);
      return;
    }
    if (known == calls.size()) continue;
    misconception("another_group",
                  "an all_reduce went over ranks that are not a line of the mesh; fix: use mesh.groups");
    ADD_FAILURE() << fmt::format(
        "{}: rank {} has called all_reduce in a group that is not its line of any axis", about(norm), rank);
    return;
  }
}

void expect_clipped(judge::Random& random, const Norm& norm) {
  const auto drawn = draw(random, norm);
  const auto replies = answers(play_norm(drawn, norm));
  if (norms_are_right(drawn, norm, replies) && gradients_are_clipped(drawn, norm, replies))
    expect_the_same_after_another(drawn, norm, replies);
}

}  // namespace lab17
