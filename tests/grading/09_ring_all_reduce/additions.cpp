// Lab 09, part 4: that a rank has added, and has told the simulator so, before it sends what the additions
// give.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "marks.h"
#include "support.h"

namespace lab09 {
namespace {

using dist::trace::Event, dist::trace::Kind;

// A rank's events of this kind, in the order of this time of theirs.
std::vector<Event> events_of(const judge::SimRun& done, std::size_t rank, Kind kind,
                             std::int64_t Event::*at) {
  std::vector<Event> events;
  for (const Event& event : done.report.trace.events)
    if (std::cmp_equal(event.rank, rank) && event.kind == kind) events.push_back(event);
  std::ranges::stable_sort(events, {}, at);
  return events;
}

}  // namespace

judge::Watch SentSegments::watch() {
  return [this](int rank, std::chrono::nanoseconds at, std::span<const std::byte> message) {
    constexpr std::int64_t ps = 1000, rest = ps - 1;  // the clock has ps, of which `at` has the ns
    Segment segment = segment_of(rank, message);
    segment.at = at.count() * ps + rest;
    of_[static_cast<std::size_t>(rank)].push_back(segment);
  };
}

// A rank sends sums of its own numbers and those of ranks directly before it.
SentSegments::Segment SentSegments::segment_of(int rank, std::span<const std::byte> message) const {
  if (message.size() != bytes()) return {};
  std::vector<float> numbers(message.size() / sizeof(float));
  std::memcpy(numbers.data(), message.data(), message.size());
  if (std::ranges::any_of(numbers, [&](float number) { return number != numbers[0]; })) return {};
  const int n = sum_.ranks(), segments = static_cast<int>(sum_.elements() / sum_.segment);
  int unmarked = 0;
  for (int parts = 1; parts <= n; ++parts) {
    unmarked += (rank + n - parts + 1) % n + 1;
    for (int k = 0; k < segments; ++k)
      if (numbers[0] == static_cast<float>(unmarked + parts * mark * k))
        return {.parts = parts, .chunk = k / (segments / n)};
  }
  return {};
}

std::vector<std::pair<std::int64_t, std::uint64_t>> SentSegments::added(const judge::SimRun& done,
                                                                        std::size_t rank) const {
  std::vector<std::int64_t> arrived;  // incomplete segments, and when
  const auto& before = of_[(rank + of_.size() - 1) % of_.size()];
  const auto arrivals = events_of(done, rank, Kind::receive, &Event::end);
  for (std::size_t i = 0; i < std::min(arrivals.size(), before.size()); ++i)
    if (before[i].parts < sum_.ranks()) arrived.push_back(arrivals[i].end);
  std::vector<std::pair<std::int64_t, std::uint64_t>> all;
  std::uint64_t used = 0;
  for (const Event& addition : events_of(done, rank, Kind::reduce, &Event::begin)) {
    const auto is_there = [&](std::int64_t time) { return time <= addition.begin; };
    const auto most = static_cast<std::uint64_t>(std::ranges::count_if(arrived, is_there)) * bytes();
    const std::uint64_t amount = std::min(addition.bytes, most - std::min(most, used));
    used += amount;
    all.emplace_back(addition.end, amount);
  }
  return all;
}

bool SentSegments::check_additions(const SumsAsked& asked, const judge::SimRun& done) const {
  for (std::size_t rank = 0; rank < of_.size(); ++rank) {
    const auto additions = added(done, rank);
    std::uint64_t needed = 0;
    int own = -1;  // the chunk that it completes: it sends no complete one before
    for (std::size_t sent = 0; sent < of_[rank].size(); ++sent) {
      const auto& [at, parts, chunk] = of_[rank][sent];
      if (parts == 0) {
        ADD_FAILURE() << fmt::format(
            "{}: message {} of rank {} is not one segment with the sum of its own numbers and those of ranks "
            "directly before it",
            asked.text(), sent, rank);
        return false;
      }
      if (own < 0 && parts == sum_.ranks()) own = chunk;
      const bool is_passed_on = parts == sum_.ranks() && chunk != own;
      if (parts > 1 && !is_passed_on) needed += bytes();
      std::uint64_t by_then = 0;
      for (const auto& [time, amount] : additions) by_then += time <= at ? amount : 0;
      if (by_then >= needed) continue;
      judge::misconception(
          "adds_unseen",
          "the simulator charges time only for additions by add(acc, arrived) of the lab's header; other "
          "additions, add_() included, take no time, so nothing is there to be hidden; fix: use add()");
      ADD_FAILURE() << fmt::format(
          "{}: the first {} segments that rank {} sends contain sums for which {} bytes must have been added "
          "since they arrived; add() has added {} bytes of them before the last of these segments is sent",
          asked.text(), sent + 1, rank, needed, by_then);
      return false;
    }
  }
  return true;
}

}  // namespace lab09
