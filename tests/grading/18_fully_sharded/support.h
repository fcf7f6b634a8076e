// What the grading of lab 18 is made of: parameters and models whose right results are known, and what a run
// may send, hold and take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/exam.h"
#include "judge/sim_run.h"
#include "model.h"

namespace lab18 {

using judge::Json;
using Shape = std::vector<std::int64_t>;

std::int64_t elements_of(const Shape& shape);
// Elements of all shards of these parameters on n ranks, with padding.
std::int64_t padded_elements(const std::vector<Shape>& shapes, int n);

judge::SimRun run(const std::vector<Json>& tasks, bool timed = false);
// Like SimRun::answers(); it also names the misconception that a finding shows.
std::vector<Json> answers(const judge::SimRun& run);
// Numbers that a float does not have, from -most to most.
Numbers draw_numbers(judge::Random& random, std::int64_t count, double most = 500);
// Whether all numbers are equal up to rounding.
bool are_near(const Numbers& right, const Numbers& got);
// "element 2 must be 7; it is 5", or how many there are.
std::string difference(const Numbers& right, const Numbers& got);

// A rank's collectives of one name. `bytes`: what is on all ranks together, padding included.
struct Traffic {
  std::uint64_t calls = 0, bytes = 0;
};
Traffic traffic_of(const judge::SimRun& done, int rank, const std::string& name);
inline constexpr const char* all_gather = "all_gather";
inline constexpr const char* reduce_scatter = "reduce_scatter";

// Part 1.
void expect_rows(const std::vector<std::vector<std::int64_t>>& cases);  // rows, rank, n
enum class Look : std::uint8_t { values, rows, traffic };
void expect_zero_step(judge::Random& random, int n, const Shape& shape, Look look);

// Part 2.
void expect_unit(judge::Random& random, int n, const std::vector<Shape>& shapes);
// How much memory many units take.
void expect_small_units(int n);
void expect_gathered(judge::Random& random, int n, const std::vector<Shape>& shapes);
void expect_reduced(judge::Random& random, int n, const std::vector<Shape>& shapes);
// One collective per unit, with these bytes.
void expect_unit_traffic(judge::Random& random, int n, const std::vector<Shape>& shapes);

// Parts 3 and 4: a model of units with a weight and a bias.
struct Model {
  std::vector<std::vector<Shape>> units;
  std::vector<std::vector<Numbers>> parameters;  // [unit][parameter]; empty: not asked for
};
Model draw_model(judge::Random& random, const std::vector<std::int64_t>& widths, bool has_numbers = true);
struct Pass {
  std::string call;  // "forward", "prefetching_backward"
  Model model;
  int n = 2;
  double seconds = 0;             // that a unit computes
  bool is_large = false;          // then its numbers are not asked for
  bool is_after_forward = false;  // a backward: a forward of the same units has run in the same process
  bool is_forward() const { return call.find("forward") != std::string::npos; }
  bool prefetches() const { return call.find("prefetching") != std::string::npos; }
  std::uint64_t unit_bytes(std::size_t unit) const;  // u
};
void expect_values(judge::Random& random, const Pass& pass);
void expect_collectives(judge::Random& random, const Pass& pass);
void expect_memory(judge::Random& random, const Pass& pass);
// Memory outside of tensors, too.
void expect_process_memory(judge::Random& random, const std::string& call);
// A unit computes `share` of the time that its collectives take.
void expect_overlap(judge::Random& random, Pass pass, double share);

}  // namespace lab18
