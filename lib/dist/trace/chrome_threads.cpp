#include "dist/trace/chrome_threads.h"

#include <algorithm>
#include <array>
#include <compare>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace dist::trace {
namespace {

enum class Track { work, sends, receives };

Track track_of(const Event& event) {
  if (event.kind == Kind::send) return Track::sends;
  return event.kind == Kind::receive ? Track::receives : Track::work;
}

struct Place {
  int rank = 0;
  Track track = Track::work;
  int copy = 0;  // number of the track; above 0 where slices overlap
  auto operator<=>(const Place&) const = default;
};

std::string label_of(const Place& place) {
  constexpr std::array suffixes{"", " sends", " receives"};
  const std::string label =
      fmt::format("rank {}{}", place.rank, suffixes[static_cast<std::size_t>(place.track)]);
  return place.copy == 0 ? label : fmt::format("{} {}", label, place.copy + 1);
}

// The slices that are open on one thread, outermost first.
class OpenSlices {
 public:
  // Takes the slice, unless it would overlap another without nesting in it. Slices come in the order of their
  // beginnings.
  bool take(const Event& event, bool may_nest) {
    while (!ends_.empty() && ends_.back() <= event.begin) ends_.pop_back();
    if (!ends_.empty() && (!may_nest || ends_.back() < event.end)) return false;
    ends_.push_back(event.end);
    return true;
  }

 private:
  std::vector<std::int64_t> ends_;
};

}  // namespace

ChromeThreads::ChromeThreads(const Trace& trace) : numbers_(trace.events.size()) {
  std::vector<std::size_t> order(trace.events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::tuple(trace.events[i].begin, -trace.events[i].end);  // outer slices first
  });

  std::map<std::pair<int, Track>, std::vector<OpenSlices>> open;
  std::map<Place, int> threads;
  for (int rank = 0; rank < trace.ranks; ++rank) threads[{rank, Track::work, 0}] = 0;
  std::vector<Place> places(trace.events.size());
  for (const std::size_t i : order) {
    const Event& event = trace.events[i];
    const Track track = track_of(event);
    auto& copies = open[{event.rank, track}];
    const auto fits = [&](OpenSlices& slices) { return slices.take(event, track == Track::work); };
    auto found = std::ranges::find_if(copies, fits);
    if (found == copies.end()) {
      copies.emplace_back().take(event, true);
      found = copies.end() - 1;
    }
    places[i] = {event.rank, track, static_cast<int>(found - copies.begin())};
    threads[places[i]] = 0;
  }

  int number = 0;
  for (auto& [place, thread] : threads) labels_[thread = ++number] = label_of(place);
  for (std::size_t i = 0; i < places.size(); ++i) numbers_[i] = threads[places[i]];
}

}  // namespace dist::trace
