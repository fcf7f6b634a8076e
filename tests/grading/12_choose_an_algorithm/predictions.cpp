// Lab 12, part 2: predicted seconds and bytes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/simulate/simulate_collective.h"

#include "judge/ask.h"
#include "judge/numbers.h"
#include "support.h"

namespace lab12 {
namespace {

using judge::misconception;

Json to_json(const Costs& c) { return Json::array({c.alpha, c.overhead, c.beta}); }

Json to_json(const Question& q) {
  return {{"text", "predict: " + q.text()},
          {"algorithm", static_cast<int>(q.algorithm)},
          {"nodes", q.machine.nodes},
          {"gpus", q.machine.gpus},
          {"within", to_json(q.machine.within)},
          {"between", to_json(q.machine.between)},
          {"bytes", q.bytes}};
}

// As counted by the simulator.
std::pair<double, double> counted(Algorithm algorithm, int ranks, std::int64_t bytes) {
  std::string name = lab12::name(algorithm);
  if (algorithm == Algorithm::double_tree) name = "double_binary_tree";
  if (algorithm == Algorithm::naive) name = "naive_exchange";
  const auto cost = dist::sim::simulate_collective(
      {.algorithm = name, .ranks = ranks, .bytes = bytes, .links = true}, dist::sim::Topology::rounds());
  double total = 0;
  for (const auto& link : cost.links) total += static_cast<double>(link.bytes);
  return {total, static_cast<double>(cost.max_bytes_sent_per_rank)};
}

bool is_near(double got, double right, double tolerance) {
  return std::abs(got - right) <= tolerance * std::abs(right);
}

void diagnose_traffic(Algorithm algorithm, double n, double bytes, double total, double busiest) {
  const auto is = [&](double said_total, double said_busiest) {
    return is_near(total, said_total, 1e-6) && is_near(busiest, said_busiest, 1e-6);
  };
  if (algorithm == Algorithm::naive && is_near(total, n * (n - 1) / 2 * bytes, 1e-6)) {
    misconception("counts_pairs",
                  "n(n-1)/2 is the number of pairs; fix: count n(n-1) transfers, because in each pair both "
                  "ranks send (the course notes count pairs here)");
  } else if (algorithm == Algorithm::parameter_server && is_near(busiest, bytes, 1e-6)) {
    misconception("looks_at_a_worker",
                  "these are the bytes of a worker, which sends its gradients once; fix: count those of the "
                  "server, which sends the sum to all n - 1 workers");
  } else if (algorithm == Algorithm::ring &&
             (is(2 * n * bytes, 2 * bytes) || is_near(busiest, 2 * bytes, 1e-6))) {
    misconception("n_minus_1_over_n_forgotten", "2(n-1) steps of S/n bytes are 2(n-1)/n S per rank, not 2 S");
  }
}

}  // namespace

void expect_predictions(const std::vector<Question>& questions,
                        const std::function<double(const Question&)>& truth) {
  Json cases = Json::array();
  for (const auto& q : questions) cases.push_back(to_json(q));
  const auto replies = judge::ask("predict", cases);
  std::vector<double> got;
  for (const auto& reply : replies) got.push_back(reply.is_number() ? reply.get<double>() : NAN);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double right = truth(questions[i]);
    if (is_near(got[i], right, 0.05)) continue;
    diagnose(questions, got);
    ADD_FAILURE() << fmt::format(
        "predict: {}: expected {:.2f} us, with a tolerance of 5 %; it returned {:.2f} us",
        questions[i].text(), right * 1e6, got[i] * 1e6);
    return;
  }
}

void expect_traffic(Algorithm algorithm, const std::vector<int>& ranks, std::int64_t bytes_a_rank) {
  Json cases = Json::array();
  for (const int n : ranks) {
    cases.push_back({{"text", fmt::format("traffic: {} among {} ranks", name(algorithm), n)},
                     {"algorithm", static_cast<int>(algorithm)},
                     {"ranks", n},
                     {"bytes", bytes_a_rank * n}});
  }
  const auto replies = judge::ask("traffic", cases);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto bytes = bytes_a_rank * ranks[i];
    const auto [total, busiest] = counted(algorithm, ranks[i], bytes);
    const double said_total = judge::real(replies[i].at(0)), said_busiest = judge::real(replies[i].at(1));
    if (is_near(said_total, total, 1e-3) && is_near(said_busiest, busiest, 1e-3)) continue;
    diagnose_traffic(algorithm, ranks[i], static_cast<double>(bytes), said_total, said_busiest);
    ADD_FAILURE() << fmt::format(
        "traffic: {} of {} bytes among {} ranks: expected {:.0f} bytes in all, {:.0f} from the busiest rank; "
        "it returned {} and {}",
        name(algorithm), bytes, ranks[i], total, busiest, judge::number_text(said_total),
        judge::number_text(said_busiest));
    return;
  }
}

}  // namespace lab12
