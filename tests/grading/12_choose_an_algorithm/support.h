// What the grading of lab 12 is made of: random machines, their times in the simulator, and the cases.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dist/sim/topology.h"

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab12 {

using judge::Json;

// ------------------------------------------------------------------------------------------ part 1: the fit

using Points = std::vector<std::pair<double, double>>;  // bytes, seconds

struct Line {
  double at_zero = 0, per_byte = 0;
  double operator()(double bytes) const { return at_zero + per_byte * bytes; }
};
Line drawn_line(judge::Random& random);
Points on_the_line(const Line& line);                      // exactly on it
Points measured(const Line& line, judge::Random& random);  // within a few per cent of it
Points one_way_of_a_server();                              // measured once and stored
Points burst_of_a_server();

void expect_line(const std::vector<Points>& cases);
void expect_costs(const Points& one_way, const Points& burst);

// ------------------------------------------------------------------------------ parts 2 and 3: predictions

struct Costs {
  double alpha = 0, overhead = 0, beta = 0;
};

struct Machine {
  int nodes = 1, gpus = 1;
  Costs within = {}, between = {};
  int ranks() const { return nodes * gpus; }
  const Costs& slowest() const { return nodes == 1 ? within : between; }
  std::string text() const;
};
Machine one_node(judge::Random& random, int gpus);
Machine several_nodes(judge::Random& random, int nodes, int gpus);  // links between nodes are slower

enum class Algorithm {
  ring,
  tree,
  double_tree,
  parameter_server,
  naive,
  hierarchical
};  // in the order of the contract
const char* name(Algorithm algorithm);

struct Question {
  Algorithm algorithm = Algorithm::ring;
  Machine machine;
  std::int64_t bytes = 0;
  std::string text() const;
};

// On the simulator's clock, for the library's algorithm.
double simulated(const Question& question);
// By the contract's words; for machines too large to simulate.
double computed(const Question& question);
// Names the idea that fits all answers, if there is one.
void diagnose(const std::vector<Question>& questions, const std::vector<double>& got);

// Checks predictions to within 5 % of the grader's values.
void expect_predictions(const std::vector<Question>& questions,
                        const std::function<double(const Question&)>& truth = simulated);
void expect_traffic(Algorithm algorithm, const std::vector<int>& ranks, std::int64_t bytes_a_rank);
// Checks, on each machine, two sizes that need different algorithms; the chosen one may be at most 5 % slower
// than the fastest.
void expect_choices(judge::Random& random, const std::vector<std::function<Machine()>>& machines);
// Checks, on each machine, sizes on both sides of every size at which another algorithm becomes the one with
// the smallest time by the contract's formulas.
void expect_smallest_predictions(judge::Random& random, const std::vector<Machine>& machines);
// Checks algorithms that take the same time.
void expect_the_first_of_equals();

// ---------------------------------------------------------------------------- part 4: the hierarchical one

struct Cluster {
  int nodes = 1, gpus = 1;
  std::string topology = "laptop";
  int ranks() const { return nodes * gpus; }
};
Cluster cluster(int nodes, int gpus);

struct Item {
  std::string dtype = "f32";
  std::vector<Json> of;  // [rank]
};
Item small_numbers(judge::Random& random, int ranks, int elements, const std::string& dtype = "f32");
Item large_integers(judge::Random& random, int ranks, int elements);  // integers that f64 cannot hold

Item order_matters(judge::Random& random, int ranks, int elements);  // their f32 sum depends on the order

// Checks that all ranks have the same bits, close to the sum.
void expect_same_bits(const Cluster& cluster, const Item& item);
void expect_sums(const Cluster& cluster, const std::vector<Item>& items);
void expect_node_traffic(const Cluster& cluster, const Item& item);

}  // namespace lab12
