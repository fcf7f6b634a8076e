// Lab 18: what all parts share.
#include "support.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab18 {
namespace {

void diagnose(const dist::check::Finding& finding) {
  using dist::check::Code;
  if (finding.code == Code::read_before_wait || finding.code == Code::changed_before_wait ||
      finding.code == Code::overlap) {
    judge::misconception("touched_before_waiting",
                         "a tensor was read or written while its collective was in flight; fix: call wait() "
                         "first, and give each collective in flight tensors of its own");
  } else if (finding.code == Code::never_waited) {
    judge::misconception("forgets_a_wait",
                         "a collective was started and never waited for, so its result may be missing; fix: "
                         "finish the last one after the loop, too");
  } else if (finding.code == Code::mismatched_collective || finding.code == Code::deadlock) {
    judge::misconception("ranks_call_different_collectives",
                         "the ranks did not make the same calls in the same order; fix: a rank without rows "
                         "takes part in every collective, with padding");
  }
}

}  // namespace

std::int64_t elements_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::int64_t padded_elements(const std::vector<Shape>& shapes, int n) {
  std::int64_t count = 0;
  for (const Shape& shape : shapes) count += (shape[0] + n - 1) / n * n * (elements_of(shape) / shape[0]);
  return count;
}

judge::SimRun run(const std::vector<Json>& tasks, bool timed) {
  judge::SimPlan plan;
  plan.tasks = tasks;
  if (timed) plan.topology = "10gbe";
  plan.trace = true;
  return judge::simulate(plan);
}

std::vector<Json> answers(const judge::SimRun& run) {
  for (const auto& finding : run.report.findings) diagnose(finding);
  if (std::ranges::any_of(run.built_ins, [](const auto& call) { return call.name == "all_reduce"; }))
    judge::misconception("all_reduces",
                         "an all_reduce gives every rank all rows, and sends twice the bytes; fix: "
                         "reduce_scatter_tensor gives each rank its own, and nothing else is summed");
  return run.answers({all_gather, reduce_scatter});
}

Numbers draw_numbers(judge::Random& random, std::int64_t count, double most) {
  constexpr int one = 1 << 30;
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(most * random.between(-one, one) / one);
  return numbers;
}

bool are_near(const Numbers& right, const Numbers& got) {
  const auto is_near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); };
  return std::ranges::equal(right, got, is_near);
}

std::string difference(const Numbers& right, const Numbers& got) {
  if (right.size() != got.size())
    return fmt::format("there must be {} elements; there are {}", right.size(), got.size());
  for (std::size_t i = 0; i < right.size(); ++i)
    if (!are_near({right[i]}, {got[i]}))
      return fmt::format("element {} must be {}; it is {}", i, right[i], got[i]);
  return "all elements are right";
}

Traffic traffic_of(const judge::SimRun& done, int rank, const std::string& name) {
  // The bytes of a call are this rank's input: a shard, or the shards of all ranks.
  Traffic traffic;
  for (const auto& event : done.report.trace.events) {
    if (event.kind != dist::trace::Kind::call || event.rank != rank || event.name != name) continue;
    ++traffic.calls;
    traffic.bytes += event.bytes * (name == all_gather ? done.ranks.size() : 1);
  }
  return traffic;
}

}  // namespace lab18
