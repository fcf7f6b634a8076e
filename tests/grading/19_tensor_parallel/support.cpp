// Lab 19: what all parts share.
#include "support.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

namespace lab19 {
namespace {

using judge::misconception;

void diagnose(const dist::check::Finding& finding) {
  using dist::check::Code;
  if (finding.code == Code::read_before_wait || finding.code == Code::changed_before_wait ||
      finding.code == Code::overlap)
    misconception("touched_before_waiting",
                  "a tensor was read or written while its collective was in flight; fix: call wait() first");
  else if (finding.code == Code::never_waited)
    misconception("forgets_a_wait",
                  "a collective was started and never waited for, so its result may be missing; fix: keep "
                  "its Work, and call wait()");
  else if (finding.code == Code::mismatched_collective || finding.code == Code::misfit_message ||
           finding.code == Code::wrong_group)
    misconception(
        "ranks_call_different_collectives",
        "the ranks did not make the same calls in the same order, or with different sizes; fix: every "
        "rank of the group, a rank with an empty part too, calls each collective, with .group and the "
        "same size");
}

void diagnose_complaint(const std::string& complaint) {
  if (complaint.starts_with("middle"))
    misconception(
        "columns_of_other_ranks",
        "what is between the two layers was given columns that are not this rank's; fix: it gets the "
        "output of this rank's part of `first`, as it is");
  else if (complaint.starts_with("add_gradients (x)"))
    misconception(
        "gradients_of_other_tokens",
        "add_gradients() was given an x that has not a row for each of all t tokens; fix: gather x, or "
        "keep all of it");
  else if (complaint.starts_with("add_gradients"))
    misconception("gradients_of_other_tokens",
                  "x and grad of add_gradients() do not belong together; fix: both have a row for each of "
                  "all t tokens, x the columns of this rank's weight, grad its rows");
  else if (!complaint.starts_with("the argument"))
    misconception("multiplies_what_does_not_fit",
                  "a part of a weight was multiplied by something that has not its columns; fix: see the "
                  "shapes in the specification");
}

const std::vector<std::string_view> collectives{"new_group",
                                                all_reduce,
                                                all_gather,
                                                reduce_scatter,
                                                "all_gather_into_tensor",
                                                "reduce_scatter_tensor",
                                                "broadcast",
                                                "reduce",
                                                "gather",
                                                "scatter",
                                                "all_to_all",
                                                "all_to_all_single",
                                                "barrier",
                                                "all_gather_object"};

double tolerance(const std::string& dtype) { return dtype == "f32" ? 1e-4 : 1e-9; }

bool are_near(const Matrix& right, const Numbers& got, double tolerance) {
  double most = 1;
  for (const double element : right.at) most = std::max(most, std::abs(element));
  const auto is_near = [&](double a, double b) { return std::abs(a - b) <= tolerance * most; };
  return std::ranges::equal(right.at, got, is_near);
}

std::string difference(const Matrix& right, const Numbers& got, const std::string& dtype, Form form) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (are_near({1, 1, {right.at[i]}}, {got[i]}, tolerance(dtype))) continue;
    const auto row = static_cast<std::int64_t>(i) / right.columns,
               column = static_cast<std::int64_t>(i) % right.columns;
    return fmt::format(
        "element {} must be {}; it is {}",
        form == Form::vector ? fmt::format("{}", column) : fmt::format("({}, {})", row, column), right.at[i],
        got[i] == 1e300 ? "not finite" : fmt::format("{}", got[i]));
  }
  return "its elements are not exact enough";
}

// What differs is of one rank; the traffic of a group's ranks is the same.
TrafficByName traffic_of(const Played& played, const Place& place) {
  TrafficByName all;
  for (const auto& event : played.done.report.trace.events) {
    if (event.kind != dist::trace::Kind::call || event.rank != place.job_rank) continue;
    if (event.name == "init_process_group" || event.name == "new_group") continue;
    Traffic& traffic = all[event.name];
    ++traffic.calls;
    traffic.bytes += event.bytes * (event.name == all_gather ? static_cast<std::uint64_t>(place.n) : 1);
  }
  return all;
}

std::string text_of(const TrafficByName& all) {
  std::vector<std::string> words;
  for (const auto& [name, traffic] : all)
    words.push_back(fmt::format("{} {} with {} bytes in all", traffic.calls, name, traffic.bytes));
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

void diagnose(const TrafficByName& right, const TrafficByName& got) {
  const auto of = [](const TrafficByName& all, const char* name) {
    const auto found = all.find(name);
    return found == all.end() ? Traffic{} : found->second;
  };
  const Traffic sum = of(got, all_reduce), right_sum = of(right, all_reduce);
  if (of(right, reduce_scatter).calls > 0 && sum.calls > 0)
    misconception(
        "all_reduces_and_cuts",
        "an all_reduce gives every rank all tokens, and sends twice the bytes; fix: a reduce-scatter "
        "gives each rank its own");
  else if (sum.bytes > right_sum.bytes)
    misconception(
        "reduces_too_much",
        "more is all_reduced than the specification says; fix: what is divided (the columns between the "
        "two layers, logits, weights, their gradients) stays where it is, and what every rank has alike (x, "
        "whole weights, a bias) is not summed");
  else if (of(got, all_gather).bytes > of(right, all_gather).bytes)
    misconception(
        "gathers_what_is_divided",
        "weights, activations or logits are gathered, which tensor parallelism avoids; fix: compute "
        "with this rank's part, and send only what the specification says");
  else if (sum.calls > right_sum.calls)
    misconception("one_all_reduce_per_piece",
                  "many small all_reduces each pay the latency; fix: put what is reduced in one tensor");
}

bool is_allowed(const std::string& about, const Played& played, const TrafficByName& right, const char* limit,
                const std::function<bool(const TrafficByName&)>& fits) {
  for (const Place& place : played.places) {
    if (played.replies.empty()) return false;
    const TrafficByName got = traffic_of(played, place);
    if (fits(got)) continue;
    diagnose(right, got);
    ADD_FAILURE() << fmt::format("{}: rank {} must call {}{}; it called {}", about, place.job_rank, limit,
                                 text_of(right), text_of(got));
    return false;
  }
  return true;
}

}  // namespace

Groups one_group(int n) {
  Groups groups(1);
  for (int rank = 0; rank < n; ++rank) groups[0].push_back(rank);
  return groups;
}

Groups draw_groups(judge::Random& random, int n) {
  const int ranks = n + random.between(1, 2);
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  random.shuffle(all);
  if (all[0] < all[1]) std::swap(all[0], all[1]);
  return {{all.begin(), all.begin() + n}, {all.begin() + n, all.end()}};
}

Played play(const Question& question, bool timed, const std::vector<Question>& before) {
  const auto& [task, groups, own, about, is_silent] = question;
  Played played;
  for (const auto& group : groups) played.places.resize(played.places.size() + group.size());
  for (const auto& group : groups)
    for (std::size_t rank = 0; rank < group.size(); ++rank)
      played.places[static_cast<std::size_t>(group[rank])] = {group[rank], static_cast<int>(rank),
                                                              static_cast<int>(group.size())};
  const auto task_of = [&](const Question& asked, const Place& place) {
    Json its = asked.task;
    its["groups"] = groups;
    its.update(asked.own(place));
    return its;
  };
  judge::SimPlan plan;
  for (const Place& place : played.places) {
    plan.tasks.push_back(task_of(question, place));
    for (const Question& other : before) plan.tasks.back()["before"].push_back(task_of(other, place));
  }
  if (timed) plan.topology = "10gbe";
  plan.trace = true;
  plan.about = about;
  played.done = judge::simulate(plan);
  const auto communicates = std::ranges::any_of(
      played.done.built_ins, [](const judge::BuiltIn& call) { return call.name != "new_group"; });
  if (is_silent && communicates && !played.done.report.findings.empty())
    misconception("communicates_where_nothing_is_needed",
                  "a collective is called where every rank has what it needs; fix: no communication here");
  for (const auto& finding : played.done.report.findings) diagnose(finding);
  for (const Json& answer : played.done.answers(collectives)) {
    const std::string complaint = answer.at("complaint");
    if (complaint.empty()) {
      played.replies.push_back(answer.at("reply"));
      continue;
    }
    diagnose_complaint(complaint);
    ADD_FAILURE() << fmt::format("{}: rank {}: {}", about, played.replies.size(), complaint);
    played.replies.clear();
    return played;
  }
  return played;
}

void expect_the_same(const Played& alone, const Question& question, const Question& before) {
  const auto after = play(question, false, {before});
  const auto [one, other] = std::ranges::mismatch(alone.replies, after.replies);
  if (one == alone.replies.end()) return;
  misconception(
      "remembers_the_call_before",
      "this is right alone, and another result after a call with other sizes in the same process; fix: "
      "keep nothing between two calls (no static variables)");
  if (!after.replies.empty())
    ADD_FAILURE() << fmt::format("{}: after {} in the same process, the results of rank {} are others",
                                 question.about, before.about, one - alone.replies.begin());
}

Seed draw_seed(judge::Random& random) {
  constexpr int most = 0x7fffffff;
  const auto high = static_cast<Seed>(random.between(0, most));
  return high << 31U | static_cast<Seed>(random.between(0, most));
}

// 31 bits each, from -2 to 2: a float has not all of them.
Matrix numbers(Seed seed, std::uint32_t what, std::int64_t rows, std::int64_t columns) {
  Matrix matrix{rows, columns};
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U), what};
  std::mt19937_64 engine(mixed);
  for (double& element : matrix.at)
    element = static_cast<double>(engine() >> 33U) / static_cast<double>(1U << 29U) - 2;
  return matrix;
}

Layer right_layer(Seed seed, bool is_first, std::int64_t outputs, std::int64_t inputs) {
  return {numbers(seed, is_first ? first_weight : second_weight, outputs, inputs),
          numbers(seed, is_first ? first_bias : second_bias, 1, outputs)};
}

Layer gradients_before(Seed seed, bool is_first, const Layer& whole) {
  Layer before{numbers(seed, is_first ? first_weight_gradient : second_weight_gradient, whole.weight.rows,
                       whole.weight.columns),
               numbers(seed, is_first ? first_bias_gradient : second_bias_gradient, 1, whole.bias.columns)};
  for (Matrix* gradient : {&before.weight, &before.bias})
    for (double& element : gradient->at) element += 3;
  return before;
}

TwoLayers right_pair(Seed seed, const Sizes& sizes) {
  return {right_layer(seed, true, sizes.is_attention ? 3 * sizes.inner : sizes.inner, sizes.width),
          right_layer(seed, false, sizes.width, sizes.inner)};
}
TwoLayers gradients_before(Seed seed, const TwoLayers& whole) {
  return {gradients_before(seed, true, whole.first), gradients_before(seed, false, whole.second)};
}

Wrong shares_memory(const Matrix& right) {
  return {{right.rows, right.columns, Numbers(right.at.size(), overwritten)},
          "shares_memory_with_the_whole",
          "the part shares the memory of the whole layer, which has been overwritten since; a view, or the "
          "same tensor under another name, is not a copy; fix: copy_of_rows(), copy_of_columns() or clone()"};
}

Wrong overwrites_the_gradients(const Layer& computed) {
  return {computed.weight, "overwrites_the_gradients",
          "the gradients that were there before are lost; backward accumulates, because several batches may "
          "come before a step; fix: add_gradients() adds, so neither clear nor replace them"};
}

Wrong cuts_the_gradients(const Layer& before) {
  return {before.weight, "cuts_the_gradients",
          "the part begins with the gradients of the whole layer; fix: with_gradients() makes zeros"};
}

bool is_right(const std::string& about, const Matrix& right, const Json& got, const std::string& dtype,
              const std::vector<Wrong>& wrong, Form form) {
  const auto shape =
      form == Form::vector ? std::vector{right.columns} : std::vector{right.rows, right.columns};
  const auto fails = [&](const std::string& what) {
    if (!got.is_null())
      for (const Wrong& one : wrong) {
        if (are_near(right, one.values.at, tolerance(dtype))) continue;  // on one rank, for instance
        const auto wrong_shape = form == Form::vector ? std::vector{one.values.columns}
                                                      : std::vector{one.values.rows, one.values.columns};
        if (got.at("shape") == Json(wrong_shape) && are_near(one.values, got.at("values"), tolerance(dtype)))
          misconception(one.name, one.in_words);
      }
    ADD_FAILURE() << about << ": " << what;
    return false;
  };
  if (got.is_null()) return fails("the tensor is undefined");
  if (got.at("dtype") != dtype)
    return fails(fmt::format("its dtype must be {}; it is {}", dtype, got.at("dtype").dump()));
  if (got.at("shape") != Json(shape))
    return fails(fmt::format("its shape must be {}; it is {}", Json(shape).dump(), got.at("shape").dump()));
  const Numbers values = got.at("values");
  if (are_near(right, values, tolerance(dtype))) return true;
  return fails(difference(right, values, dtype, form));
}

bool gradients_are_right(const std::string& about, const Layer& right, const Json& got,
                         const std::string& dtype, const std::vector<Wrong>& wrong) {
  return is_right(about + "'s gradient of the weight", right.weight, got.at(2), dtype, wrong) &&
         is_right(about + "'s gradient of the bias", right.bias, got.at(3), dtype, {}, Form::vector);
}

bool traffic_is_right(const std::string& about, const Played& played, const TrafficByName& right) {
  return is_allowed(about, played, right, "", [&](const TrafficByName& got) { return got == right; });
}

bool traffic_is_at_most(const std::string& about, const Played& played, const TrafficByName& most) {
  return is_allowed(about, played, most, "at most ", [&](const TrafficByName& got) {
    return std::ranges::all_of(got, [&](const auto& one) {
      const auto limit = most.find(one.first);
      return limit != most.end() && one.second.calls <= limit->second.calls &&
             one.second.bytes <= limit->second.bytes;
    });
  });
}

double seconds_of(int n, const std::string& collective, std::int64_t rows, std::int64_t columns) {
  dist::sim::RunOptions options;
  options.ranks = n;
  options.topology = "10gbe";
  const auto seconds = [&](bool calls) {
    return judge::simulate_own(options,
                               [&](int) {
                                 dist::init_process_group();
                                 std::vector<int> ranks = one_group(n)[0];
                                 const auto group = dist::new_group(ranks);
                                 auto all = dist::zeros({rows, columns}, dist::DType::f64);
                                 auto mine = dist::zeros({rows / n, columns}, dist::DType::f64);
                                 if (!calls) return;
                                 if (collective == all_reduce) dist::all_reduce(all, {.group = group});
                                 if (collective == all_gather)
                                   dist::all_gather_into_tensor(all, mine, {.group = group});
                                 if (collective == reduce_scatter)
                                   dist::reduce_scatter_tensor(mine, all, {.group = group});
                               })
        .virtual_time_s;
  };
  return collective.empty() ? seconds(false) : seconds(true) - seconds(false);
}

std::string in_us(double seconds) { return fmt::format("{:.0f} us", 1e6 * seconds); }

}  // namespace lab19
