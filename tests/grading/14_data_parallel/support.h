// What the grading of lab 14 is made of: lists of tensors, batches, and the run of one process with which
// everything is compared.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "judge/exam.h"
#include "judge/sim_run.h"
#include "model.h"

namespace lab14 {

using judge::Json;

// The form of a list of tensors.
struct Form {
  std::vector<std::vector<std::int64_t>> shapes;
  std::string dtype = "f64";
  std::size_t elements() const;
  std::uint64_t bytes() const { return elements() * (dtype == "f32" ? 4 : 8); }
};
Form draw_form(judge::Random& random, const std::string& dtype = "f64");

using OfRanks = std::vector<Numbers>;  // [rank], elements of all tensors
OfRanks draw_numbers(judge::Random& random, int ranks, const Form& form);

// Parts 1 to 3. A call of one function on all ranks; if a rank's `samples` are 0, its numbers are NaN.
struct Asked {
  std::string call;  // "average_gradients"
  Form form;
  OfRanks numbers;
  std::vector<std::int64_t> samples = {};  // [rank]
  int ranks() const { return static_cast<int>(numbers.size()); }
};
Asked draw_broadcast(judge::Random& random, int ranks, const Form& form);
Asked draw_average(judge::Random& random, int ranks, const Form& form);
// The last tensor is zero on one rank, and the first one on all ranks.
Asked draw_with_zeros(judge::Random& random, int ranks, const Form& form);
Asked draw_over_samples(judge::Random& random, const std::vector<std::int64_t>& samples, const Form& form);
void expect_right(const Asked& asked);
void expect_in_place(const Asked& asked);
// Checks that nothing but `collective` was called, with this many bytes in all, in this many calls.
void expect_calls(const Asked& asked, const std::string& collective, std::uint64_t bytes, std::size_t calls);

// Parts 4 and 5.
struct Training {
  std::string call;  // "train"
  std::string optimizer;
  Form form;
  OfRanks first;                                          // weights at the beginning
  std::vector<std::vector<std::vector<Sample>>> batches;  // [step][rank]
  int ranks() const { return static_cast<int>(first.size()); }
  int steps() const { return static_cast<int>(batches.size()); }
};
// `samples`: of each rank in the last step; in the others every rank has three.
Training draw_training(judge::Random& random, const std::string& call, const std::string& optimizer,
                       int steps, const std::vector<int>& samples);
// The same, but all gradients of one step are zero, and those of one rank in the step before.
Training with_zeros(Training training);
// The weights of one process with the whole batches.
void expect_trained(const Training& training);
void expect_train_traffic(const Training& training);
// PyTorch's own losses: tests/golden/ddp_training.json.
void expect_golden(const std::string& optimizer);
// Which rank calls optimize(), and which rank sends what.
void expect_one_optimizer(const Training& training);
void expect_server_traffic(const Training& training);

// Shared helpers.
Json task_of(const Asked& asked, std::size_t rank);
Json task_of(const Training& training, std::size_t rank);
judge::SimRun run(const std::vector<Json>& tasks);
// The calls `before` come first, in the same program.
template <class Question>
judge::SimRun run(const Question& asked, const std::vector<Question>& before = {}) {
  std::vector<Json> tasks;
  for (std::size_t rank = 0; std::cmp_less(rank, asked.ranks()); ++rank) {
    tasks.push_back(task_of(asked, rank));
    for (const Question& other : before) tasks.back()["before"].push_back(task_of(other, rank));
  }
  return run(tasks);
}
// Whether a question whose answers were right by itself has the same answers, and the same numbers on all
// ranks, after other calls in the same program.
void expect_the_same_after_calls(const std::string& about, const Form& form, const Numbers& right,
                                 const judge::SimRun& done);
inline double lr(const std::string& optimizer) { return optimizer == "adam" ? 0.1 : 0.05; }
// Like SimRun::answers(), with all collectives allowed; it also names the misconception that a finding shows.
std::vector<Json> answers(const judge::SimRun& run);
Numbers numbers_of(const Json& reply);
double distance(const Numbers& right, const Numbers& got);  // relative, in the L2 norm
// How far rounding may move results that are computed in another order.
inline double tolerance(const Form& form) { return form.dtype == "f32" ? 1e-6 : 1e-10; }
// Names a detour of f64 through f32 if all ranks are nearly right.
bool diagnose_dtype(const Form& form, const Numbers& right, const std::vector<Json>& replies);
// From the first element that differs: "the caller's tensors on rank 1 must have {..., 5, 6}; they have {...,
// 3, 4}".
std::string difference(std::size_t rank, const Numbers& right, const Numbers& got);

}  // namespace lab14
