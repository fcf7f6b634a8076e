// What-ifs: their checks against a number of ranks, their texts (3x2.5, 0-1x10, 2@100us), and Slowdowns,
// which the network asks how long a message holds its ports.
#include "dist/sim/what_if.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "dist/core/fail.h"

namespace dist::sim {
namespace {

constexpr double greatest = 1e6;  // the largest factor, and time in seconds, that Time can hold

// Reads a text from left to right.
class Text {
 public:
  explicit Text(std::string_view text) : left_(text) {}
  template <class Number>
  std::optional<Number> number() {
    Number value{};
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc()) return std::nullopt;
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }
  bool take(std::string_view word) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  bool ended() const { return left_.empty(); }

 private:
  std::string_view left_;
};

void check_rank(const std::string& what, int rank, int ranks) {
  if (rank < 0 || rank >= ranks)
    fail(Errc::invalid_argument, "{}: there is no rank {}; there are ranks 0 to {}", what, rank, ranks - 1);
}

void check_factor(const std::string& what, double factor) {
  if (!(factor >= 1 && factor <= greatest))
    fail(Errc::invalid_argument, "{}: the factor is {}; it must be from 1 to {}", what, factor, greatest);
}

std::pair<int, int> ends_of(const SlowLink& link) {
  return {std::min(link.a, link.b), std::max(link.a, link.b)};
}

}  // namespace

void WhatIf::check(int ranks) const {
  std::set<int> slow, lost;
  std::set<std::pair<int, int>> links;
  const auto refuse_twice = [](const std::string& what, bool is_new) {
    if (!is_new) fail(Errc::invalid_argument, "{} is given twice; give it once", what);
  };
  for (const auto& [rank, factor] : stragglers) {
    const auto what = fmt::format("straggler {}x{}", rank, factor);
    check_rank(what, rank, ranks);
    check_factor(what, factor);
    refuse_twice(what, slow.insert(rank).second);
  }
  for (const auto& link : slow_links) {
    const auto what = fmt::format("slow link {}-{}x{}", link.a, link.b, link.factor);
    check_rank(what, link.a, ranks);
    check_rank(what, link.b, ranks);
    if (link.a == link.b) fail(Errc::invalid_argument, "{}: a link has two ends", what);
    check_factor(what, link.factor);
    refuse_twice(what, links.insert(ends_of(link)).second);
  }
  for (const auto& [rank, at_s] : losses) {
    const auto what = fmt::format("loss of rank {}", rank);
    check_rank(what, rank, ranks);
    if (!(at_s >= 0 && at_s <= greatest))
      fail(Errc::invalid_argument, "{}: the time must be from 0 to {} s", what, greatest);
    refuse_twice(what, lost.insert(rank).second);
  }
}

Straggler parse_straggler(std::string_view text) {
  Text in(text);
  const auto rank = in.number<int>();
  const auto factor = rank && in.take("x") ? in.number<double>() : std::nullopt;
  if (!factor || !in.ended())
    fail(Errc::invalid_argument,
         "\"{}\" is not a straggler: give RANKxFACTOR, as in 3x2.5 (rank 3 is 2.5 times slower)", text);
  return {*rank, *factor};
}

SlowLink parse_slow_link(std::string_view text) {
  Text in(text);
  const auto a = in.number<int>();
  const auto b = a && in.take("-") ? in.number<int>() : std::nullopt;
  const auto factor = b && in.take("x") ? in.number<double>() : std::nullopt;
  if (!factor || !in.ended())
    fail(Errc::invalid_argument,
         "\"{}\" is not a slow link: give RANK-RANKxFACTOR, as in 0-1x10 (messages between ranks 0 and 1 "
         "take 10 "
         "times as long)",
         text);
  return {*a, *b, *factor};
}

Loss parse_loss(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
  Text in(text);
  const auto rank = in.number<int>();
  const auto time = rank && in.take("@") ? in.number<double>() : std::nullopt;
  for (const auto& [name, seconds] : units) {
    if (time && in.take(name) && in.ended()) return {*rank, *time * seconds};
  }
  fail(Errc::invalid_argument,
       "\"{}\" is not a loss: give RANK@TIME, as in 2@100us (ns, us, ms or s of virtual time)", text);
}

Slowdowns::Slowdowns(const WhatIf& what_if, int ranks) {
  if (!what_if.stragglers.empty()) ranks_.resize(static_cast<std::size_t>(ranks), 1);
  for (const auto& [rank, factor] : what_if.stragglers) ranks_[static_cast<std::size_t>(rank)] = factor;
  for (const auto& link : what_if.slow_links) links_.emplace_back(ends_of(link), link.factor);
  std::ranges::sort(links_);
}

double Slowdowns::link(int a, int b) const {
  const std::pair ends{std::min(a, b), std::max(a, b)};
  const auto found = std::ranges::lower_bound(links_, ends, {}, [](const auto& link) { return link.first; });
  return found != links_.end() && found->first == ends ? found->second : 1;
}

Time Slowdowns::hold(const Cost& cost, std::uint64_t bytes, int src, int dst) const {
  const double overhead = static_cast<double>(cost.overhead) * std::max(of(src), of(dst));
  const double moving = static_cast<double>(bytes) * cost.ps_per_byte;
  return from_ps((overhead + moving) * link(src, dst));
}

}  // namespace dist::sim
