// What the grading of lab 16 is made of: runs of a small model, the same runs in one process, rank by rank,
// and their results with each misconception.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/exam.h"
#include "judge/sim_run.h"
#include "world.h"

namespace lab16 {

using judge::Json;

using Reads = std::vector<std::int64_t>;  // numbers of samples, in order

// A run of the small model.
struct Asked {
  int ranks = 2;
  std::uint64_t model_seed = 0;
  bool same_models = false;  // at first; otherwise rank r's model has the seed model_seed + r
  std::uint64_t data_seed = 0;
  std::int64_t samples = 40, batch = 4;  // `batch`: per rank
  std::int64_t test_samples = 21;
  std::uint64_t seed = 0;             // the sampler's
  std::vector<int> epochs{0};         // their numbers
  double lr = 0.25, momentum = 0.75;  // exact in binary
  std::string topology = "laptop";
  Json task(const std::string& call, int rank) const;
};
// The number of samples is a multiple neither of the ranks nor of the batches. Four ranks are on two nodes.
Asked draw_asked(judge::Random& random, int ranks);
// A run, and which samples each rank has read in it, in order: of those to train on, and of those to test
// with.
struct Watched : judge::SimRun {
  std::vector<Reads> trained_on, tested_with;  // [rank]
};
// `more`: added to each rank's task. "kill_after": a rank is killed after this many reads of training
// samples.
Watched run(const Asked& asked, const std::string& call, const Json& more = Json::object());
// The answers; also names the misconception that a finding shows. "reads" is added to them: the training
// samples that were read. Where the answer has "read_by", the numbers of reads by the end of each epoch, it
// is a list for each epoch.
std::vector<Json> answers(const Watched& run);

// Which samples a rank reads in an epoch.
Reads share(const Asked& asked, int rank, int epoch, std::uint64_t sampler_seed);

// The ways in which ranks may train.
struct Way {
  bool zeroes = true;           // the gradients, before backward
  bool keeps_gradients = true;  // from backward to the step
  bool in_training_mode = true;
  bool sets_epoch = true;
  bool averages = true;                    // the gradients over the ranks, and shares the statistics
  int forgets_momentum_before = -1;        // this epoch
  int others_forget_momentum_before = -1;  // all except rank 0; all have its model after each epoch
  int forgets_statistics_before = -1;      // the running statistics
  double dirt = 0;                         // what the gradients hold at first
};
// A way with a name, and the message for submissions that took it.
struct Idea {
  const char *name, *in_words;
  Way way;
};
struct Trained {
  std::vector<Numbers> numbers;     // [rank], of all tensors
  Numbers losses;                   // [epoch], over the samples of all ranks
  Numbers batch_means;              // [epoch], the mean of all batches' means
  std::vector<Numbers> own_losses;  // [epoch][rank]
};
Trained trained(const Asked& asked, const Way& way = {});
// The same for one rank and these batches; `losses` are those of the steps.
Trained stepped(const Asked& asked, const std::vector<Reads>& batches, const Way& way = {});

Numbers first_numbers(std::uint64_t model_seed);
// How many of these test samples a model with these numbers classifies correctly.
std::int64_t count_right(const Asked& asked, const Numbers& model, const Reads& samples);

constexpr double near = 1e-4;                               // f32 sums may be added in another order
double distance(const Numbers& right, const Numbers& got);  // relative, in the L2 norm
inline bool is_near(double right, double got) {
  return std::abs(right - got) <= near * (1 + std::abs(right));
}
Numbers numbers_of(const Json& numbers);  // null is NaN

// Parts 1 and 2: *_epoch.cpp.
enum class Look : std::uint8_t { order, mode, weights, loss };
void expect_steps(judge::Random& random, Look look);
void expect_epochs(const Asked& asked, Look look);
// Parts 3 and 4: *_evaluate.cpp.
void expect_accuracy(const Asked& asked);
void expect_one_writer(const Asked& asked);
// While a checkpoint is replaced, the old or the new one is complete at any time.
void expect_never_without(const Asked& asked);
void expect_everything_back(const Asked& asked, int epochs_done);
// Part 5: *_run.cpp, *_resume.cpp.
void expect_run(const Asked& asked);
void expect_checkpoint_each_epoch(const Asked& asked);
// A run that is resumed when it was complete.
void expect_nothing_left(const Asked& asked);
// A run that is killed in the middle of that epoch.
void expect_resumed(const Asked& asked, int killed_in);
// Another run's file exists, and the plan does not say resume.
void expect_begun_anew(const Asked& asked);
void expect_digits();

}  // namespace lab16
