// What the grading of lab 19 is made of: jobs whose ranks form groups, layers whose right results are known,
// and what a run may send, hold and take.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "judge/exam.h"
#include "judge/sim_run.h"
#include "model.h"

namespace lab19 {

using judge::Json;

// The groups of a job: global ranks, in the order of their group ranks. Every rank is in one.
using Groups = std::vector<std::vector<int>>;
Groups one_group(int n);
// Two groups whose ranks are not in order.
Groups draw_groups(judge::Random& random, int n);

// Where a rank of the job is.
struct Place {
  int job_rank = 0, rank = 0, n = 1;
};

struct Played {
  std::vector<Place> places;  // [rank of the job]
  judge::SimRun done;
  std::vector<Json> replies;  // empty: the test has failed
};
// What one rank gets, besides what all get.
using Own = std::function<Json(const Place& place)>;
// A question to all ranks. `about` begins every complaint. `is_silent`: it needs no communication.
struct Question {
  Json task;
  Groups groups;
  Own own;
  std::string about;
  bool is_silent = false;
};
// `before`: questions that the same processes answer first, in the same groups' order.
Played play(const Question& question, bool timed = false, const std::vector<Question>& before = {});

// The numbers of a question, which only the grader can compute. `what` says which matrix it is.
using Seed = std::uint64_t;
Seed draw_seed(judge::Random& random);
enum What : std::uint8_t {
  first_weight,
  first_bias,
  second_weight,
  second_bias,
  input,
  output_gradient,
  table,
  first_weight_gradient,
  first_bias_gradient,
  second_weight_gradient,
  second_bias_gradient,
  noise
};
Matrix numbers(Seed seed, std::uint32_t what, std::int64_t rows, std::int64_t columns);
Layer right_layer(Seed seed, bool is_first, std::int64_t outputs, std::int64_t inputs);
// The gradients that a whole layer has before a backward, which adds to them. None is 0.
Layer gradients_before(Seed seed, bool is_first, const Layer& whole);
TwoLayers right_pair(Seed seed, const Sizes& sizes);
TwoLayers gradients_before(Seed seed, const TwoLayers& whole);

// Asks a question once more, after another one in the same processes: the answers must be those of `alone`.
void expect_the_same(const Played& alone, const Question& question, const Question& before);

// A wrong result that shows a misconception.
struct Wrong {
  Matrix values;
  std::string name, in_words;
};
// What a part has if it shares the memory of the whole layer, which has been overwritten.
Wrong shares_memory(const Matrix& right);
// What the gradients of a layer are if backward does not add to those before, and what those of a part are if
// they are cut from the whole layer's.
Wrong overwrites_the_gradients(const Layer& computed);
Wrong cuts_the_gradients(const Layer& before);
// Fails the test if a tensor that was reported is another one; `right` with one row may be a vector.
enum class Form : std::uint8_t { matrix, vector };
bool is_right(const std::string& about, const Matrix& right, const Json& got, const std::string& dtype,
              const std::vector<Wrong>& wrong = {}, Form form = Form::matrix);
// A layer as the runner reports it: with its gradients.
bool gradients_are_right(const std::string& about, const Layer& right, const Json& got,
                         const std::string& dtype, const std::vector<Wrong>& wrong = {});

// A rank's operations by name. `bytes`: what is on all ranks of the group together, or for an all_reduce on
// each.
struct Traffic {
  std::uint64_t calls = 0, bytes = 0;
  bool operator==(const Traffic&) const = default;
};
using TrafficByName = std::map<std::string, Traffic>;
// Fails the test if a rank's operations are others, or are more.
bool traffic_is_right(const std::string& about, const Played& played, const TrafficByName& right);
bool traffic_is_at_most(const std::string& about, const Played& played, const TrafficByName& most);
inline constexpr const char* all_reduce = "all_reduce";
inline constexpr const char* all_gather = "all_gather";
inline constexpr const char* reduce_scatter = "reduce_scatter";

// The virtual time of a collective with this tensor on all ranks, and of nothing.
double seconds_of(int n, const std::string& collective, std::int64_t rows, std::int64_t columns);
std::string in_us(double seconds);

// Part 1. `kind`: "column", "row".
struct LayerSizes {
  std::int64_t t = 1, outputs = 1, inputs = 1;
};
void expect_cut(judge::Random& random, const std::string& kind, const LayerSizes& sizes, const Groups& groups,
                const std::string& dtype);
void expect_only_parts_are_kept(judge::Random& random, const std::string& kind, int n);
// `is_second`: once more, after another call in the same process.
void expect_layer(judge::Random& random, const std::string& kind, const std::string& phase,
                  const LayerSizes& sizes, const Groups& groups, const std::string& dtype, bool is_second);
void expect_layer_traffic(judge::Random& random, const LayerSizes& sizes, int n);
void expect_hidden_sum(judge::Random& random, int n);

// Parts 2, 3 and 5. `call`: "pair"; "attention", whose layers the graded code cuts. `is_sequence`: part 5.
struct PairRun {
  std::string call = "pair";
  Sizes sizes = {};
  Groups groups = {};
  std::string dtype = "f64";
  bool is_sequence = false;
};
void expect_pair(judge::Random& random, const PairRun& run, bool is_second = false);
void expect_pair_traffic(judge::Random& random, const PairRun& run);
void expect_heads(judge::Random& random, const PairRun& run);
void expect_kept_tokens(judge::Random& random, int n);
void expect_hidden_tokens(judge::Random& random, int n);
void expect_summed_gradients(judge::Random& random, const Groups& groups, const std::string& dtype,
                             bool is_second);

// Part 4.
void expect_embedding(judge::Random& random, std::int64_t t, std::int64_t vocabulary, std::int64_t width,
                      const Groups& groups, bool is_second);
// Logits are around `about`, and differ by up to `spread`.
void expect_loss(judge::Random& random, std::int64_t t, std::int64_t vocabulary, const Groups& groups,
                 double about, double spread, bool is_second = false);
void expect_vocabulary_traffic(judge::Random& random, int n);

}  // namespace lab19
