// The grading of lab 12. Machines and sizes are random. The predictions and the choices are compared with the
// library's own algorithms in the grader's simulator; the all_reduce over nodes runs in isolated processes
// whose messages the grader counts.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab12::Algorithm, lab12::Machine, lab12::Question;

// Random machines of one node with these numbers of GPUs.
std::vector<Question> questions(Random& random, Algorithm algorithm, const std::vector<int>& ranks,
                                int least_bytes, int most_bytes) {
  std::vector<Question> asked;
  for (const int n : ranks)
    asked.push_back(
        {algorithm, lab12::one_node(random, n), 4 * random.between(least_bytes / 4, most_bytes / 4)});
  return asked;
}

// Machines of several nodes, where every message of a flat algorithm counts as one between nodes; and any
// numbers of ranks, the smallest included. They are compared with the contract's formula.
std::vector<Question> by_the_contract(Random& random, Algorithm algorithm) {
  auto asked = questions(random, algorithm, {2, 3, random.between(5, 7), random.between(9, 31)}, 8, 64 << 10);
  for (const auto& [nodes, gpus] : {std::pair{2, 1}, {random.between(3, 6), random.between(2, 8)}})
    asked.push_back({algorithm, lab12::several_nodes(random, nodes, gpus), random.between(1, 1 << 20)});
  return asked;
}

// Few bytes and a large latency: how often alpha is counted decides the result.
Question where_ways_count(Random& random, Algorithm algorithm) {
  Question few_bytes{algorithm, lab12::one_node(random, random.between(5, 20)), 8};
  few_bytes.machine.within.alpha = random.between(20, 40) * 1e-7;
  return few_bytes;
}

// --------------------------------------------------------------------------------------------- part 1: fit

TEST(Part1Fit, points_on_a_line) {
  worth(5, 1);
  Random random("line");
  lab12::expect_line(
      {lab12::on_the_line(lab12::drawn_line(random)), lab12::on_the_line(lab12::drawn_line(random))});
}

TEST(Part1Fit, measurements_with_errors) {
  worth(7, 1);
  Random random("measurements");
  std::vector<lab12::Points> cases{lab12::one_way_of_a_server()};
  for (int i = 0; i < 3; ++i) cases.push_back(lab12::measured(lab12::drawn_line(random), random));
  random.shuffle(cases.back());
  // Two points; and lines that are below zero at 0 bytes or fall, as errors can make them.
  const double unit = random.between(1, 9) * 1e-7;
  cases.push_back({{1000, 2 * unit}, {3000, 5 * unit}});
  cases.push_back({{1000, unit}, {2000, 4 * unit}, {3000, 6 * unit}});
  cases.push_back({{8, 5 * unit}, {1024, 4 * unit}, {2048, 4 * unit}});
  lab12::expect_line(cases);
}

TEST(Part1Fit, three_costs_of_two_series) {
  worth(4, 1);
  Random random("costs");
  lab12::expect_costs(lab12::one_way_of_a_server(), lab12::burst_of_a_server());
  if (HasFailure()) return;
  auto port = lab12::drawn_line(random), way = port;
  way.at_zero += random.between(100, 900) * 1e-8;
  lab12::expect_costs(lab12::measured(way, random), lab12::measured(port, random));
  if (HasFailure()) return;
  way.at_zero = port.at_zero / 2;  // alpha is below zero
  lab12::expect_costs(lab12::measured(way, random), lab12::measured(port, random));
}

// ----------------------------------------------------------------------------------------- part 2: predict

TEST(Part2Predict, ring) {
  worth(7, 2);
  Random random("ring");
  auto asked =
      questions(random, Algorithm::ring, {2, random.between(3, 9), random.between(10, 40)}, 8, 4 << 20);
  asked.push_back({Algorithm::ring, lab12::one_node(random, random.between(2, 4)), 64 << 20});
  asked.push_back({Algorithm::ring, lab12::one_node(random, random.between(20, 60)), 8});
  lab12::expect_predictions(asked);
  if (HasFailure()) return;
  lab12::expect_predictions(by_the_contract(random, Algorithm::ring), lab12::computed);
}

TEST(Part2Predict, tree) {
  worth(6, 2);
  Random random("tree");
  auto asked = questions(random, Algorithm::tree, {4, 8, 16 << random.between(0, 2)}, 8, 128 << 10);
  asked.push_back({Algorithm::tree, lab12::one_node(random, 256), 8});
  lab12::expect_predictions(asked);
  if (HasFailure()) return;
  // The simulator's trees for other numbers of ranks also have shorter branches; these are compared with the
  // contract's formula.
  lab12::expect_predictions(by_the_contract(random, Algorithm::tree), lab12::computed);
}

// The bytes matter here, not the overheads: a double tree's steps are in phases, which the formula leaves
// out.
TEST(Part2Predict, double_tree) {
  worth(5, 2);
  Random random("double tree");
  std::vector<Question> asked;
  for (const int n : {4, 8, 16}) {
    Machine machine = lab12::one_node(random, n);
    machine.within.alpha = random.between(3, 9) * 1e-7;
    asked.push_back({Algorithm::double_tree, machine, 256 << 10});
  }
  lab12::expect_predictions(asked);
  if (HasFailure()) return;
  lab12::expect_predictions(by_the_contract(random, Algorithm::double_tree), lab12::computed);
}

TEST(Part2Predict, parameter_server) {
  worth(3, 2);
  Random random("parameter server");
  auto asked = questions(random, Algorithm::parameter_server,
                         {4, random.between(5, 20), random.between(21, 60)}, 8, 1 << 20);
  asked.push_back(where_ways_count(random, Algorithm::parameter_server));
  lab12::expect_predictions(asked);
  if (HasFailure()) return;
  lab12::expect_predictions(by_the_contract(random, Algorithm::parameter_server), lab12::computed);
}

TEST(Part2Predict, naive) {
  worth(3, 2);
  Random random("naive");
  auto asked =
      questions(random, Algorithm::naive, {4, random.between(5, 20), random.between(21, 40)}, 8, 1 << 20);
  asked.push_back(where_ways_count(random, Algorithm::naive));
  lab12::expect_predictions(asked);
  if (HasFailure()) return;
  lab12::expect_predictions(by_the_contract(random, Algorithm::naive), lab12::computed);
}

TEST(Part2Predict, bytes_of_each) {
  worth(4, 2);
  Random random("traffic");
  for (const auto algorithm : {Algorithm::ring, Algorithm::parameter_server, Algorithm::naive,
                               Algorithm::tree, Algorithm::double_tree}) {
    lab12::expect_traffic(algorithm, {4, 2 * random.between(3, 9), 2 * random.between(10, 16)},
                          8 * random.between(1, 900));
    if (HasFailure()) return;
  }
}

// A ring of 24,576 ranks has 1.2 billion messages, too many to simulate in a test. The formula was compared
// with the simulator for smaller rings above.
TEST(Part2Predict, the_headline) {
  worth(2, 2);
  Random random("headline");
  const auto machine = lab12::one_node(random, 24576);
  lab12::expect_predictions({{Algorithm::ring, machine, 8}, {Algorithm::ring, machine, 1 << 30}},
                            lab12::computed);
  if (HasFailure()) return;
  lab12::expect_predictions({{Algorithm::tree, lab12::one_node(random, 16384), 8}});
}

// ------------------------------------------------------------------------------------------ part 3: choose

TEST(Part3Choose, predicts_the_hierarchical_one) {
  worth(6, 3);
  Random random("hierarchical");
  std::vector<Question> asked;
  for (const auto& [nodes, gpus] :
       {std::pair{2, 4}, {random.between(3, 8), random.between(2, 8)}, {4, 1}, {1, 6}}) {
    const auto machine =
        nodes == 1 ? lab12::one_node(random, gpus) : lab12::several_nodes(random, nodes, gpus);
    for (const int bytes : {8, random.between(1 << 18, 1 << 22) * 4})
      asked.push_back({Algorithm::hierarchical, machine, bytes});
  }
  lab12::expect_predictions(asked);
}

TEST(Part3Choose, on_one_node) {
  worth(6, 3);
  Random random("one node");
  std::vector<std::function<Machine()>> machines;
  for (const int n : {8, 16, 32, 64})
    machines.emplace_back([&random, n] { return lab12::one_node(random, n); });
  lab12::expect_choices(random, machines);
  if (!HasFailure()) lab12::expect_the_first_of_equals();
  std::vector<Machine> any;
  for (const int n : {2, 3, random.between(4, 7), random.between(9, 15), random.between(17, 63), 128})
    any.push_back(lab12::one_node(random, n));
  if (!HasFailure()) lab12::expect_smallest_predictions(random, any);
}

TEST(Part3Choose, on_several_nodes) {
  worth(6, 3);
  Random random("several nodes");
  std::vector<std::function<Machine()>> machines;
  for (const auto& [nodes, gpus] : {std::pair{32, 2}, {16, 4}})
    machines.emplace_back([&random, m = nodes, g = gpus] { return lab12::several_nodes(random, m, g); });
  lab12::expect_choices(random, machines);
  std::vector<Machine> any;
  for (const auto& [nodes, gpus] : {std::pair{2, 1},
                                    {2, 8},
                                    {random.between(3, 5), 1},
                                    {random.between(3, 5), random.between(2, 6)},
                                    {random.between(6, 20), random.between(2, 8)},
                                    {64, 8}})
    any.push_back(lab12::several_nodes(random, nodes, gpus));
  if (!HasFailure()) lab12::expect_smallest_predictions(random, any);
}

// ----------------------------------------------------------------------------- part 4: the hierarchical one

TEST(Part4Hierarchical, sums_over_nodes) {
  worth(10, 4);
  Random random("sums");
  for (const auto& [nodes, gpus] : {std::pair{2, 2}, {3, 2}, {2, 3}}) {
    const auto c = lab12::cluster(nodes, gpus);
    lab12::expect_sums(c, {lab12::small_numbers(random, c.ranks(), gpus * random.between(1, 5)),
                           lab12::small_numbers(random, c.ranks(), gpus * nodes * 2)});
    if (HasFailure()) return;
    lab12::expect_same_bits(c, lab12::order_matters(random, c.ranks(), gpus * 12));
    if (HasFailure()) return;
  }
}

TEST(Part4Hierarchical, one_node_or_one_gpu) {
  worth(6, 4);
  Random random("edges");
  for (const auto& [nodes, gpus] : {std::pair{1, 4}, {4, 1}, {1, 1}}) {
    const auto c = lab12::cluster(nodes, gpus);
    lab12::expect_sums(c, {lab12::small_numbers(random, c.ranks(), gpus * random.between(1, 5)),
                           lab12::small_numbers(random, c.ranks(), 0)});
    if (HasFailure()) return;
  }
}

TEST(Part4Hierarchical, integers_stay_integers) {
  worth(4, 4);
  Random random("integers");
  const auto c = lab12::cluster(2, 2);
  lab12::expect_sums(c, {lab12::large_integers(random, c.ranks(), 4)});
}

TEST(Part4Hierarchical, bytes_between_nodes_and_within) {
  worth(16, 4);
  Random random("node traffic");
  for (const auto& [nodes, gpus] : {std::pair{4, 2}, {3, 3}, {2, 4}}) {
    const auto c = lab12::cluster(nodes, gpus);
    lab12::expect_node_traffic(c,
                               lab12::small_numbers(random, c.ranks(), nodes * gpus * random.between(2, 9)));
    if (HasFailure()) return;
  }
}

}  // namespace
