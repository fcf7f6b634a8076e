// Lab 13, parts 1 to 3: shuffles, and the ranks' parts of the samples.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ideas.h"
#include "judge/ask.h"
#include "judge/numbers.h"

namespace lab13 {
namespace {

using judge::misconception;

Json to_json(const Sampling& asked) {
  return {{"text", asked.text(-1)},   {"samples", asked.samples}, {"ranks", asked.ranks},
          {"shuffle", asked.shuffle}, {"seed", asked.seed},       {"drop_last", asked.drop_last},
          {"epochs", asked.epochs}};
}

// All ranks' answers in one epoch.
Shares in_epoch(const Json& replies, std::size_t epoch) {
  Shares got;
  for (const auto& rank : replies) got.push_back(rank.at(epoch).at("indices").get<Indices>());
  return got;
}

bool check_size(const std::string& what, std::size_t rank, const Json& reply) {
  const auto size = reply.at("size").get<std::int64_t>();
  const auto indices = std::ssize(reply.at("indices"));
  if (size == indices) return true;
  misconception("size_is_another_one",
                "size() and indices() do not agree; fix: let size() return the number of elements that "
                "indices() returns");
  ADD_FAILURE() << fmt::format("{}: on rank {} size() is {}, but indices() returned {}", what, rank, size,
                               judge::counted(indices, "number"));
  return false;
}

bool check_epoch(const Sampling& asked, const Json& replies, std::size_t at) {
  const auto epoch = asked.epochs[at];
  const auto what = asked.text(epoch);
  const auto right = shares(asked, epoch), got = in_epoch(replies, at);
  for (std::size_t rank = 0; rank < right.size(); ++rank) {
    if (got[rank] == right[rank]) {
      if (!check_size(what, rank, replies[rank].at(at))) return false;
      continue;
    }
    diagnose(asked, epoch, got);
    const auto from = first_shown(right[rank], got[rank]);
    ADD_FAILURE() << fmt::format("{}: rank {} must read {}; it reads {}", what, rank, text(right[rank], from),
                                 text(got[rank], from));
    return false;
  }
  return true;
}

}  // namespace

void expect_permutations(const std::vector<Shuffle>& cases) {
  Json questions = Json::array();
  for (const auto& [n, seed] : cases)
    questions.push_back({{"n", n}, {"seed", seed}, {"text", fmt::format("randperm({}, {})", n, seed)}});
  const auto replies = judge::ask("randperm", questions);
  std::vector<Indices> got;
  for (const auto& reply : replies) got.push_back(reply.get<Indices>());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto right = permutation(cases[i].n, cases[i].seed);
    if (got[i] == right) continue;
    diagnose(cases, got);
    const auto from = first_shown(right, got[i]);
    ADD_FAILURE() << fmt::format("randperm({}, {}) must be {}; it is {}", cases[i].n, cases[i].seed,
                                 text(right, from), text(got[i], from));
    return;
  }
}

void expect_shares(const std::vector<Sampling>& cases) {
  Json questions = Json::array();
  for (const auto& one : cases) questions.push_back(to_json(one));
  const auto replies = judge::ask("sampler", questions);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    for (std::size_t epoch = 0; epoch < cases[i].epochs.size(); ++epoch) {
      if (!check_epoch(cases[i], replies[i], epoch)) return;
    }
  }
}

void expect_sizes(const std::vector<Sampling>& cases) {
  Json questions = Json::array();
  for (const auto& one : cases) questions.push_back(to_json(one));
  const auto replies = judge::ask("size", questions);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto& [samples, ranks, shuffle, seed, drop_last, epochs] = cases[i];
    const auto right = samples / ranks + (drop_last || samples % ranks == 0 ? 0 : 1);
    if (replies[i] == right) continue;
    misconception("size_of_a_large_dataset",
                  "size() is wrong for large data sets; fix: compute in std::int64_t, without floating point "
                  "numbers");
    ADD_FAILURE() << fmt::format("{}: size() must be {}; it is {}", cases[i].text(-1), right,
                                 replies[i].dump());
    return;
  }
}

void expect_other_orders(const Sampling& asked) {
  const auto replies = judge::ask("sampler", Json::array({to_json(asked)}));
  if (replies.empty()) return;
  for (std::size_t epoch = 0; epoch < asked.epochs.size(); ++epoch) {
    const auto got = in_epoch(replies[0], epoch);
    Indices all;
    for (const auto& part : got) all.insert(all.end(), part.begin(), part.end());
    for (std::int64_t sample = 0; sample < asked.samples; ++sample) {
      const auto readers = std::ranges::count(all, sample);
      if (readers == 1) continue;
      diagnose(asked, asked.epochs[epoch], got);
      ADD_FAILURE() << fmt::format("{}: each sample must be read by one rank; sample {} is read by {}",
                                   asked.text(asked.epochs[epoch]), sample, judge::counted(readers, "rank"));
      return;
    }
    for (std::size_t before = 0; before < epoch; ++before) {
      const bool same_number =
          std::max<std::int64_t>(asked.epochs[before], 0) == std::max<std::int64_t>(asked.epochs[epoch], 0);
      if ((in_epoch(replies[0], before) == got) == same_number) continue;
      diagnose(asked, asked.epochs[epoch], got);
      const auto then = asked.epochs[before] < 0 ? std::string("before set_epoch()")
                                                 : fmt::format("in epoch {}", asked.epochs[before]);
      ADD_FAILURE() << fmt::format("{}: expected {} {}; rank 0 had {} then and has {} now",
                                   asked.text(asked.epochs[epoch]),
                                   same_number ? "the order it had" : "a different order from the one", then,
                                   text(in_epoch(replies[0], before)[0]), text(got[0]));
      return;
    }
  }
}

void expect_epoch_ends(const Sampling& asked) {
  judge::SimPlan plan;
  plan.about = asked.text(-1) + ", with an all_reduce per sample";
  Json task = to_json(asked);
  task["call"] = "epoch_of_sampler";
  plan.tasks.assign(static_cast<std::size_t>(asked.ranks), task);
  const auto done = judge::simulate(plan);
  if (!done.report.findings.empty()) {
    misconception(
        "ranks_disagree_on_length",
        "the ranks have different numbers of samples: the ranks with fewer leave the epoch, and the others' "
        "next collective waits for them forever; fix: give all ranks the same number of samples");
  }
  const auto steps = done.answers({"all_reduce"});
  for (std::size_t rank = 0; rank < steps.size(); ++rank) {
    const auto right = shares(asked, -1)[rank].size();
    if (steps[rank] == right) continue;
    ADD_FAILURE() << fmt::format("{}: rank {} must run {}; it ran {}", asked.text(-1), rank,
                                 judge::counted(right, "step"), steps[rank].dump());
    return;
  }
}

}  // namespace lab13
