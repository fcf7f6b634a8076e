// Lab 16, parts 3 and 4: how good a model is, and what is saved of it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab16 {
namespace {

using judge::misconception;

Reads all_samples(const Asked& asked) {
  Reads all(static_cast<std::size_t>(asked.test_samples));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::uint64_t model_seed(const Asked& asked, int rank) {
  return asked.model_seed + static_cast<std::uint64_t>(asked.same_models ? 0 : rank);
}

// The results that could be computed from what each rank has read.
struct Answers {
  double right = 0;          // over all samples, with rank 0's model
  Numbers own_share;         // [rank]
  double mean_of_means = 0;  // of the line above
  double own_models = 0;     // every rank's accuracy with its own model
};

Answers possible(const Asked& asked, const std::vector<Reads>& reads) {
  const auto first = first_numbers(asked.model_seed);
  const auto all = static_cast<double>(asked.test_samples);
  Answers answers;
  answers.right = static_cast<double>(count_right(asked, first, all_samples(asked))) / all;
  for (int rank = 0; rank < asked.ranks; ++rank) {
    const Reads& ours = reads[static_cast<std::size_t>(rank)];
    answers.own_share.push_back(static_cast<double>(count_right(asked, first, ours)) /
                                static_cast<double>(ours.size()));
    answers.mean_of_means += answers.own_share.back() / asked.ranks;
    answers.own_models +=
        static_cast<double>(count_right(asked, first_numbers(model_seed(asked, rank)), ours)) / all;
  }
  return answers;
}

std::vector<Reads> dealt(const Asked& asked) {
  std::vector<Reads> reads(static_cast<std::size_t>(asked.ranks));
  for (std::int64_t i = 0; i < asked.test_samples; ++i)
    reads[static_cast<std::size_t>(i % asked.ranks)].push_back(i);
  return reads;
}

bool same(double a, double b) { return std::abs(a - b) < 1e-9; }

// Whether every wrong way gives a number that differs from the right one. With parts of equal size the mean
// of means is right.
bool tells(const Asked& asked) {
  const auto answers = possible(asked, dealt(asked));
  const bool uneven = asked.test_samples > asked.ranks && asked.test_samples % asked.ranks != 0;
  return !(uneven && same(answers.mean_of_means, answers.right)) &&
         (asked.same_models || !same(answers.own_models, answers.right));
}

// Other samples and other models are chosen, because models that put all samples into one class distinguish
// nothing.
Asked telling(Asked asked) {
  while (asked.ranks > 1 && !tells(asked)) ++asked.data_seed, ++asked.model_seed;
  return asked;
}

bool has_twice(Reads reads) {
  std::ranges::sort(reads);
  return std::ranges::adjacent_find(reads) != reads.end();
}

// The samples that all ranks together have read.
bool diagnose_reads(const Asked& asked, const std::vector<Reads>& reads) {
  std::vector<int> looks(static_cast<std::size_t>(asked.test_samples));
  for (const Reads& ours : reads)
    for (const std::int64_t index : ours) ++looks.at(static_cast<std::size_t>(index));
  const auto [least, most] = std::ranges::minmax(looks);
  if (least == 1 && most == 1) return false;
  const bool each_once = std::ranges::none_of(reads, has_twice);  // by the same rank
  if (each_once && least == asked.ranks)
    misconception("every_rank_looks_at_all",
                  "every rank has evaluated all samples: this is right, but it takes n times the work; fix: "
                  "use dist::data::ShardSampler, which gives each sample to one rank");
  else if (each_once && least >= 1)
    misconception(
        "counts_padding_twice",
        "a DistributedSampler pads: it gives some samples to two ranks so that all have the same number, and "
        "in an evaluation these count twice; fix: use dist::data::ShardSampler, which does not pad");
  ADD_FAILURE() << fmt::format(
      "evaluate, {} samples on {} ranks: each sample must be evaluated once; they were evaluated {} times",
      asked.test_samples, asked.ranks, looks);
  return true;
}

bool diagnose_mode(const std::vector<Json>& replies) {
  for (const Json& reply : replies) {
    const std::int64_t wrong = reply.at("trained");
    if (wrong == 0) continue;
    misconception("evaluates_in_training_mode",
                  "in training mode batch norm uses the statistics of the test batch and updates the running "
                  "ones with them; fix: call model.eval() first");
    ADD_FAILURE() << fmt::format("evaluate: {} samples went through the model in training mode", wrong);
    return true;
  }
  return false;
}

void diagnose_accuracy(const Answers& possible, const Numbers& got) {
  const auto all_are = [&](double x) {
    return std::ranges::all_of(got, [&](double y) { return same(x, y); });
  };
  bool own = true;
  for (std::size_t rank = 0; rank < got.size(); ++rank)
    own = own && (same(got[rank], possible.own_share[rank]) ||
                  (std::isnan(got[rank]) && std::isnan(possible.own_share[rank])));
  if (own)
    misconception("accuracy_of_its_own_share",
                  "each rank returned the accuracy on its own samples; fix: sum the right answers and the "
                  "number of samples over all ranks");
  else if (all_are(possible.mean_of_means) || (std::isnan(possible.mean_of_means) && std::isnan(got[0])))
    misconception("mean_of_means",
                  "the ranks' accuracies were averaged, but ranks differ in how many samples they have (and "
                  "0 / 0 is NaN); fix: add up counts, not means");
  else if (all_are(possible.own_models))
    misconception("every_rank_judges_its_own_model",
                  "the running statistics differ from rank to rank; fix: call dist::broadcast_state() first, "
                  "so that all ranks evaluate rank 0's model");
}

std::vector<Json> loaded(Asked asked, const Json& file) {
  asked.model_seed += 100;  // another model, and no momentum
  return answers(run(asked, "load", {{"file", file}}));
}

// Whether the file has the first of these numbers, f32, one after the other.
bool has_numbers(const Json& file, const Numbers& numbers) {
  if (!file.is_string() || numbers.empty()) return false;
  std::string hex;
  for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 4); ++i)
    for (const std::byte byte : std::bit_cast<std::array<std::byte, 4>>(static_cast<float>(numbers[i])))
      hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return file.get<std::string>().find(hex) != std::string::npos;
}

// Batch norm's weight and bias come before its statistics.
Numbers without_statistics(Numbers model) {
  if (model.size() >= 9) model.erase(model.begin() + 4, model.begin() + 9);
  return model;
}

}  // namespace

void expect_accuracy(const Asked& wanted) {
  const Asked asked = telling(wanted);
  const auto done = run(asked, "evaluate");
  const auto replies = answers(done);
  if (replies.empty()) return;
  const std::vector<Reads>& reads = done.tested_with;
  Numbers got;
  for (const Json& reply : replies) {
    got.push_back(reply.at("accuracy").is_null() ? std::nan("") : reply.at("accuracy").get<double>());
  }
  if (diagnose_reads(asked, reads) || diagnose_mode(replies)) return;
  const auto answers = possible(asked, reads);
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    if (same(got[rank], answers.right)) continue;
    diagnose_accuracy(answers, got);
    ADD_FAILURE() << fmt::format(
        "evaluate, {} samples on {} ranks: the accuracy of rank 0's model is {:.6f}; rank {} returned {:.6f}",
        asked.test_samples, asked.ranks, answers.right, rank, got[rank]);
    return;
  }
}

void expect_one_writer(const Asked& asked) {
  const auto replies = answers(run(asked, "save", {{"epochs_done", 1}}));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const int files = replies[rank].at("folder").at("files");
    if (files == (rank == 0 ? 1 : 0)) continue;
    if (rank > 0)
      misconception("every_rank_writes",
                    "all ranks have the same state, so one file is enough; n ranks that write it at the same "
                    "time take n times as long and may damage it; fix: let only rank 0 write");
    ADD_FAILURE() << fmt::format(
        "save_checkpoint on {} ranks: rank {} has written {} files; it must write {}", asked.ranks, rank,
        files, rank == 0 ? "one, at the path given" : "none");
    return;
  }
}

void expect_everything_back(const Asked& asked, int epochs_done) {
  const auto saved = answers(run(asked, "save", {{"epochs_done", epochs_done}}));
  if (saved.empty()) return;
  const Json& file = saved[0].at("folder").at("bytes");
  if (file.is_null()) {
    ADD_FAILURE() << "save_checkpoint did not write a file at the given path";
    return;
  }
  const auto replies = loaded(asked, file);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json &right = saved[0].at("state"), &got = replies[rank].at("state");
    const auto model = numbers_of(right.at("model")), read = numbers_of(got.at("model"));
    if (model == read && right.at("optimizer") == got.at("optimizer") &&
        replies[rank].at("epochs_done") == epochs_done)
      continue;
    if (model != read && without_statistics(model) == without_statistics(read))
      misconception("running_statistics_lost",
                    "a model consists of its parameters and its buffers; fix: save state_dict(), which has "
                    "both; parameters() has only the former");
    else if (model == read && right.at("optimizer") != got.at("optimizer") &&
             has_numbers(file, numbers_of(right.at("optimizer"))))
      misconception("momentum_not_loaded",
                    "the optimizer's momentum is in the file, but afterwards the optimizer does not have it; "
                    "fix: call optimizer.load_state_dict() with what belongs to the optimizer");
    else if (model == read && right.at("optimizer") != got.at("optimizer"))
      misconception("momentum_lost",
                    "the optimizer has a state, too: without its momentum the first steps after a resume "
                    "differ; fix: save optimizer.state_dict() in the file");
    else if (model == read)
      misconception("epoch_lost",
                    "the number of complete epochs is not the one that was saved; fix: write it to the file, "
                    "because the order of the samples and the end of the run depend on it");
    ADD_FAILURE() << fmt::format(
        "load_checkpoint on rank {}: the model {} what was saved, the optimizer's state {}; completed "
        "epochs: saved {}, read {}",
        rank, model == read ? "is" : "is not", right.at("optimizer") == got.at("optimizer") ? "is" : "is not",
        epochs_done, replies[rank].at("epochs_done").get<int>());
    return;
  }
}

}  // namespace lab16
