// What the grading of lab 17 is made of: grids whose places, slices and groups are known, and runs on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grid.h"
#include "judge/ask.h"
#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab17 {

using judge::Json;

// Ranks 0, 1, ... in order; `shuffled`: any of them, in any order, with gaps.
Grid draw_grid(judge::Random& random, const Ints& sizes, bool shuffled = false);
std::string text(const Grid& grid);  // "dp=2, tp=4"
Json as_json(const Grid& grid);
std::string in_braces(const Ints& numbers);  // "{0, 4}"
Ints sorted(Ints numbers);
Ints reversed(Ints numbers);

// Part 1.
void expect_coordinates(
    const std::vector<Grid>& grids);                // of all ranks, and of some that are not in the grid
void expect_ranks(const std::vector<Grid>& grids);  // at all places

// Part 2: the slices from all ranks, along all sets of this many axes.
enum class Along : std::uint8_t { one, several };
void expect_slices(const std::vector<Grid>& grids, Along along);

// Part 3. There are `outside` ranks besides those of the grid.
struct Flattened {
  Names axes;
  std::string name;
};
// The groups of each axis, made axis by axis; then those of `flattened`.
void expect_groups(const Grid& grid, int outside, const std::vector<Flattened>& flattened = {});
void expect_number_of_groups(const Grid& grid, const std::vector<Flattened>& flattened);

// Part 4.
struct Data {
  Grid grid;
  Flattened axis;  // along which tokens differ; one axis of the grid has its own name
  std::vector<std::vector<std::int64_t>> tokens;  // [round][number along it]
};
void expect_losses(judge::Random& random, const Data& data);
void expect_one_exchange(judge::Random& random, const Data& data);

// Part 5. A gradient's shards, by the coordinates along the axes that shard it.
struct Part {
  Names over;
  int fewest = 1, most = 8;     // elements of a shard
  bool ends_with_none = false;  // the last shard has no element, as after torch.chunk
};
struct Norm {
  Grid grid;
  std::vector<Part> parts;
  double size = 1;   // of an element, about
  double limit = 0;  // max_norm as a multiple of the norm; 0: the norm alone
};
void expect_norm(judge::Random& random, const Norm& norm);
void expect_same_bits(judge::Random& random, const Norm& norm);
void expect_reductions(judge::Random& random, const Norm& norm);
void expect_clipped(judge::Random& random, const Norm& norm);

// What parts 3 to 5 share: the task of every rank, and what a finding shows.
judge::SimRun run(const std::vector<Json>& tasks, const std::string& about);
std::vector<Json> answers(const judge::SimRun& run);
// A rank's all_reduces: in which group (its context number), with how many bytes.
struct Reduction {
  std::uint32_t context;
  std::uint64_t bytes;
};
std::vector<Reduction> reductions(const judge::SimRun& run, int rank);
inline constexpr double keeps_f32 = 1e-6;  // relative
bool are_near(double a, double b, double tolerance = 1e-12);
double number_of(const Json& bits);

}  // namespace lab17
