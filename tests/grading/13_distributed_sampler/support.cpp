// Lab 13: the right parts of the samples.
#include "support.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "judge/numbers.h"
#include "judge/trouble.h"

namespace lab13 {
namespace {

constexpr std::size_t most_shown = 16;

// PyTorch's indices: tests/golden/README.md.
Json golden() {
  std::ifstream file(LAB13_GOLDEN);
  if (!file) throw judge::Trouble("cannot read " LAB13_GOLDEN);
  return Json::parse(file);
}

Sampling sampling_of(const Json& one) {
  return {one.at("dataset_size"), one.at("num_replicas"), one.at("shuffle"),
          one.at("seed"),         one.at("drop_last"),    {one.at("epoch")}};
}

}  // namespace

std::string text(const Indices& indices, std::size_t from) {
  const auto begin = std::min(from, indices.size()), end = std::min(begin + most_shown, indices.size());
  const std::vector<std::int64_t> shown(indices.begin() + static_cast<std::ptrdiff_t>(begin),
                                        indices.begin() + static_cast<std::ptrdiff_t>(end));
  return fmt::format("{{{}{}{}}}", begin > 0 ? "..., " : "", fmt::join(shown, ", "),
                     end < indices.size() ? ", ..." : "");
}

std::size_t first_shown(const Indices& right, const Indices& got) {
  const auto different = static_cast<std::size_t>(std::ranges::mismatch(right, got).in1 - right.begin());
  return different < most_shown ? 0 : different - most_shown / 2;
}

Indices permutation(std::int64_t n, std::uint64_t seed) {
  Indices order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator(static_cast<std::uint32_t>(seed));
  for (std::size_t left = order.size(), at = 0; left > 1; --left, ++at)
    std::swap(order[at], order[at + generator() % left]);
  return order;
}

std::string Sampling::text(std::int64_t epoch) const {
  return fmt::format("{}, {}{}{}{}", judge::counted(samples, "sample"), judge::counted(ranks, "rank"),
                     shuffle ? fmt::format(", shuffled with seed {}", seed) : "",
                     drop_last ? ", drop_last" : "", epoch >= 0 ? fmt::format(", epoch {}", epoch) : "");
}

Shares shares(const Sampling& asked, std::int64_t epoch) {
  const auto ranks = static_cast<std::size_t>(asked.ranks);
  auto list =
      permutation(asked.samples, asked.seed + static_cast<std::uint64_t>(std::max<std::int64_t>(epoch, 0)));
  if (!asked.shuffle) std::iota(list.begin(), list.end(), 0);
  if (asked.drop_last) list.resize(list.size() - list.size() % ranks);
  for (std::size_t i = 0; list.size() % ranks != 0; ++i) list.push_back(list[i]);
  Shares dealt(ranks);
  for (std::size_t i = 0; i < list.size(); ++i) dealt[i % ranks].push_back(list[i]);
  return dealt;
}

void expect_golden_shares() {
  std::vector<Sampling> cases;
  for (const auto& one : golden()) {
    const auto asked = sampling_of(one);
    if (shares(asked, asked.epochs[0]) != one.at("indices").get<Shares>())
      throw judge::Trouble("the grader's indices differ from PyTorch's for " + asked.text(asked.epochs[0]));
    cases.push_back(asked);
  }
  expect_shares(cases);
}

// If all samples were dealt out, the shuffled list can be put together again.
std::vector<Shuffle> golden_shuffles() {
  std::vector<Shuffle> cases;
  for (const auto& one : golden()) {
    const auto asked = sampling_of(one);
    if (!asked.shuffle || asked.drop_last) continue;
    const auto seed = asked.seed + static_cast<std::uint64_t>(asked.epochs[0]);
    const auto dealt = one.at("indices").get<Shares>();
    const auto list = permutation(asked.samples, seed);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] != dealt[i % dealt.size()][i / dealt.size()])
        throw judge::Trouble("the grader's shuffle differs from PyTorch's for " +
                             asked.text(asked.epochs[0]));
    }
    cases.push_back({asked.samples, seed});
  }
  return cases;
}

}  // namespace lab13
