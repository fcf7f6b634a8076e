// Lab 14, parts 4 and 5: n ranks compared with one process that has the whole batch.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab14 {
namespace {

using judge::misconception;

using Batch = std::vector<std::vector<Sample>>;  // [rank]

// One process, all samples.
Numbers trained_alone(const Training& training) {
  Numbers weights = training.first[0];
  Optimizer optimizer(training.optimizer, lr(training.optimizer));
  for (const Batch& batch : training.batches) {
    std::vector<Sample> all;
    for (const auto& part : batch) all.insert(all.end(), part.begin(), part.end());
    optimizer.step(weights, gradients_of(weights, all));
  }
  return weights;
}

// The ways in which ranks may train.
struct Way {
  bool broadcasts = true;         // rank 0's weights, before the first step
  bool averages_weights = false;  // after separate steps, instead of gradients before one step
  bool exchanges = true;          // gradients
  bool divides = true;            // the sum of the gradients
  bool counts_samples = true;     // otherwise every rank counts the same
  bool rank_0_counts = true;      // otherwise only the other ranks' gradients count
  bool truth_on_rank_0 = false;   // after each step all ranks have its weights
  bool steps_on_zeros = true;     // otherwise there is no step where all gradients are zero
};

Numbers mean(const OfRanks& of_ranks, const Numbers& parts, bool divides) {
  Numbers result(of_ranks[0].size(), 0);
  const double all = divides ? std::accumulate(parts.begin(), parts.end(), 0.0) : 1;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
    for (std::size_t i = 0; parts[rank] != 0 && i < result.size(); ++i)
      result[i] += parts[rank] * of_ranks[rank][i] / all;
  return result;
}

// The weight of each rank's gradients.
Numbers parts_of(const Batch& batch, const Way& way) {
  Numbers parts;
  for (const auto& samples : batch)
    parts.push_back(way.counts_samples && way.divides ? static_cast<double>(samples.size()) : 1);
  if (!way.rank_0_counts) parts[0] = 0;
  return parts;
}

OfRanks trained(const Training& training, const Way& way) {
  OfRanks weights = training.first;
  if (way.broadcasts) std::ranges::fill(weights, training.first[0]);
  std::vector<Optimizer> optimizers(weights.size(), Optimizer(training.optimizer, lr(training.optimizer)));
  for (const Batch& batch : training.batches) {
    OfRanks gradients;
    for (std::size_t rank = 0; rank < weights.size(); ++rank)
      gradients.push_back(gradients_of(weights[rank], batch[rank]));
    if (way.exchanges) std::ranges::fill(gradients, mean(gradients, parts_of(batch, way), way.divides));
    const auto are_zeros = [](const Numbers& of_rank) {
      return std::ranges::count(of_rank, 0) == std::ssize(of_rank);
    };
    for (std::size_t rank = 0; rank < weights.size(); ++rank)
      if (way.steps_on_zeros || !are_zeros(gradients[rank]))
        optimizers[rank].step(weights[rank], gradients[rank]);
    if (way.averages_weights) std::ranges::fill(weights, mean(weights, Numbers(weights.size(), 1), true));
    if (way.truth_on_rank_0) std::ranges::fill(weights, OfRanks(weights)[0]);
  }
  return weights;
}

struct TrainIdea {
  const char *name, *in_words;
  Way way;
};

const std::vector<TrainIdea>& train_ideas() {
  static const std::vector<TrainIdea> known{
      {"no_first_broadcast",
       "the ranks took the same steps from different weights; fix: before the first step, all ranks need "
       "rank 0's weights",
       {.broadcasts = false}},
      {"no_first_broadcast",
       "in the first step the ranks compute gradients at weights of their own; fix: send the server's "
       "weights to all ranks before the first step",
       {.broadcasts = false, .truth_on_rank_0 = true}},
      {"trains_alone",
       "every rank took its steps with its own gradients; fix: average them first, then call optimize()",
       {.exchanges = false}},
      {"sums_without_averaging",
       "the gradients were summed, so the steps are too large; fix: divide the sum",
       {.divides = false}},
      {"mean_of_the_ranks_means",
       "every rank counts the same, however many samples it has; fix: compute means over the samples of all "
       "ranks",
       {.counts_samples = false}},
      {"averages_weights",
       "every rank took a step of its own, and then the weights were averaged: with momentum this gives the "
       "same result, but Adam divides by the size of the gradient, so the mean of its steps is not the step "
       "of the mean; fix: average the gradients",
       {.averages_weights = true, .exchanges = false}},
      {"server_forgets_its_own",
       "the server's own gradients are missing in the mean; fix: add them, because the server has a part of "
       "the batch, too",
       {.rank_0_counts = false}},
      {"no_step_on_zeros",
       "no step was taken where all gradients are zero, but momentum moves the weights then, too; fix: call "
       "optimize() in every step",
       {.steps_on_zeros = false}}};
  return known;
}

void diagnose_weights(const Training& training, const std::vector<Json>& replies) {
  if (training.steps() == 0)
    return misconception(
        "no_first_broadcast",
        "there was no step, and the ranks do not have rank 0's weights; fix: send these before "
        "the loop over the steps, not in the first of them");
  for (const TrainIdea& idea : train_ideas()) {
    if (training.ranks() == 1 && !idea.way.rank_0_counts) continue;  // then no gradient counts
    const auto theirs = trained(training, idea.way);
    bool fits = true;
    for (std::size_t rank = 0; rank < replies.size(); ++rank)
      fits = fits && distance(theirs[rank], numbers_of(replies[rank])) < 1e-6;
    if (fits) return misconception(idea.name, idea.in_words);
  }
  const auto is_nan = [](double x) { return std::isnan(x); };
  const auto was_unwritten = [](const Json& reply) { return reply.at("was_unwritten") == true; };
  if (std::ranges::any_of(replies, was_unwritten) && std::ranges::any_of(numbers_of(replies[0]), is_nan))
    misconception("counts_on_new_memory",
                  "compute() does not change the gradients of a rank without samples, and these were never "
                  "written: new memory (empty) may hold anything, also NaN, which stays NaN times 0; fix: "
                  "contribute zeros on such a rank (zero_())");
}

// From other weights, those of other ranks, and to other ones.
Training another(Training training) {
  for (auto& numbers : training.first)
    for (double& number : numbers) number = 2 * number + 1;
  std::ranges::reverse(training.first);
  for (Batch& batch : training.batches)
    for (auto& part : batch)
      for (Sample& sample : part) sample.target = -sample.target;
  return training;
}

}  // namespace

Training draw_training(judge::Random& random, const std::string& call, const std::string& optimizer,
                       int steps, const std::vector<int>& samples) {
  Training training{call, optimizer, draw_form(random), {}, {}};
  training.first = draw_numbers(random, static_cast<int>(samples.size()), training.form);
  for (int step = 0; step < steps; ++step) {
    Batch batch;
    for (const int of_rank : samples) {
      batch.emplace_back();
      for (int i = step + 1 == steps ? of_rank : 3; i > 0; --i)
        batch.back().push_back({0.1 * random.between(1, 20), 1.0 * random.between(-2000, 2000)});
    }
    training.batches.push_back(batch);
  }
  return training;
}

Training with_zeros(Training training) {
  for (Sample& sample : training.batches.at(0).back()) sample.scale = 0;
  for (auto& part : training.batches.at(1))
    for (Sample& sample : part) sample.scale = 0;
  return training;
}

void expect_trained(const Training& training) {
  const auto replies = answers(run(training));
  const auto right = trained_alone(training);
  std::vector<int> order(static_cast<std::size_t>(training.steps()));
  std::iota(order.begin(), order.end(), 0);
  const auto what = fmt::format("{} on {} ranks, {}, after {} steps", training.call, training.ranks(),
                                training.optimizer, training.steps());
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (replies[rank].at("computed") != Json(order)) {
      ADD_FAILURE() << fmt::format("{}: rank {} must call compute() for the steps {}; it called it for {}",
                                   what, rank, Json(order).dump(), replies[rank].at("computed").dump());
      return;
    }
    const auto got = numbers_of(replies[rank]);
    const double apart = distance(right, got);
    if (apart < tolerance(training.form)) continue;
    // Adam's step hardly depends on the size of the gradients, so with Adam a near miss may have other
    // reasons.
    if (training.optimizer == "adam" || !diagnose_dtype(training.form, right, replies))
      diagnose_weights(training, replies);
    ADD_FAILURE() << fmt::format(
        "{}: {} (the weights of one process with the whole batch; the relative distance is {:.1e})", what,
        difference(rank, right, got), apart);
    return;
  }
  if (!replies.empty())
    expect_the_same_after_calls(what, training.form, right, run(training, {another(training)}));
}

void expect_one_optimizer(const Training& training) {
  const auto replies = answers(run(training));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const int expected = rank == 0 ? training.steps() : 0, got = replies[rank].at("optimized");
    if (got == expected) continue;
    if (rank > 0)
      misconception("everybody_takes_the_step",
                    "a worker took the step, too; fix: take it on the server only, and send weights instead "
                    "of gradients, so that the optimizer's state (for Adam twice as large as the weights) is "
                    "on one rank only");
    else if (got == expected * training.ranks())
      misconception(
          "a_step_for_each_worker",
          "the server took one step per worker's gradients, but all of them were computed at the weights "
          "before the first of these steps; fix: wait for all gradients, then take one step");
    ADD_FAILURE() << fmt::format(
        "train_with_server, {} steps: rank {} must call optimize() {} times; it called it {} times",
        training.steps(), rank, expected, got);
    return;
  }
}

}  // namespace lab14
