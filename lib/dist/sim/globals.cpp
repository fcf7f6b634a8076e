// Globals: which of the program's variables are watched and how much of each; the copies and comparisons at
// every switch; and the notes. Reads nothing that AddressSanitizer has poisoned, and does nothing under
// ThreadSanitizer.
#include "dist/sim/globals.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "dist/check/who.h"

// The program may be built with a sanitizer and this library without one. Otherwise these are null.
extern "C" {
[[gnu::weak]] void* __asan_region_is_poisoned(void* begin, std::size_t bytes);  // NOLINT
[[gnu::weak]] void __tsan_init();                                               // NOLINT
}

namespace dist::sim {
namespace {

constexpr std::size_t most_of_all = 64 * 1024, most_of_one = 8 * 1024;  // bytes

// How many of these bytes may be read. Clang's symbols include the poison after their variables.
std::size_t readable(const std::byte* at, std::size_t bytes) {
  if (!__asan_region_is_poisoned) return bytes;
  const void* const poison = __asan_region_is_poisoned(const_cast<std::byte*>(at), bytes);
  return poison ? static_cast<std::size_t>(static_cast<const std::byte*>(poison) - at) : bytes;
}

// The largest gap between variables that are compared together. AddressSanitizer allows no reads of the gap.
std::ptrdiff_t most_between() { return __asan_region_is_poisoned ? 0 : 64; }

// How much of each variable is compared, so that all together are at most most_of_all.
std::size_t share_of_each(const std::vector<Variable>& variables) {
  const auto all = [&](std::size_t share) {
    std::size_t sum = 0;
    for (const Variable& variable : variables) sum += std::min(variable.bytes, share);
    return sum;
  };
  std::size_t share = most_of_one;
  while (all(share) > most_of_all) share /= 2;
  return share;
}

}  // namespace

Globals::Globals() {
  if (__tsan_init) return;  // other threads may write there
  const auto& variables = program_variables();
  const std::size_t share = share_of_each(variables);
  for (const Variable& variable : variables)
    watch(variable, readable(variable.at, std::min(variable.bytes, share)));
  if (!ranges_.empty()) copies_.resize(ranges_.back().copy + ranges_.back().bytes);
  refresh();
}

void Globals::watch(const Variable& variable, std::size_t bytes) {
  if (bytes == 0) return;
  if (ranges_.empty() || variable.at - ranges_.back().end() > most_between())
    ranges_.push_back({variable.at, 0, ranges_.empty() ? 0 : ranges_.back().copy + ranges_.back().bytes});
  Range& range = ranges_.back();
  const auto begin = static_cast<std::size_t>(variable.at - range.at);
  range.bytes = std::max(range.bytes, begin + bytes);
  watched_.push_back({&variable, bytes, range.copy + begin, {}});
}

void Globals::refresh() {
  for (const Range& range : ranges_) std::memcpy(&copies_[range.copy], range.at, range.bytes);
}

void Globals::look(int rank) {
  const auto is_changed = [&](const Range& range) {
    return std::memcmp(&copies_[range.copy], range.at, range.bytes) != 0;
  };
  if (std::ranges::none_of(ranges_, is_changed)) return;
  for (Watched& watched : watched_) compare(watched, rank);
  refresh();
}

void Globals::compare(Watched& watched, int rank) const {
  const Variable& variable = *watched.variable;
  const bool differs = std::memcmp(&copies_[watched.copy], variable.at, watched.bytes) != 0;
  if (differs && !variable.what.empty() && is_initialised(variable)) watched.ranks.insert(rank);
}

// Looks at the copy: a function that gives its static variable the first value does not count as a change.
bool Globals::is_initialised(const Variable& variable) const {
  if (!variable.guard) return true;
  const auto guard = std::ranges::lower_bound(watched_, variable.guard, {},
                                              [](const Watched& watched) { return watched.variable->at; });
  return guard != watched_.end() && guard->variable->at == variable.guard &&
         copies_[guard->copy] != std::byte{0};
}

void Globals::received(int rank, const std::byte* data, std::size_t bytes) {
  if (ranges_.empty() || data >= ranges_.back().end() || data + bytes <= ranges_.front().at) return;
  for (Watched& watched : watched_) {
    const std::byte* const at = watched.variable->at;
    if (data >= at + watched.bytes || data + bytes <= at) continue;
    compare(watched, rank);
    std::memcpy(&copies_[watched.copy], at, watched.bytes);
  }
}

std::vector<std::string> Globals::notes() const {
  constexpr std::size_t most = 8;
  std::vector<std::string> found;
  std::size_t more = 0;
  for (const Watched& watched : watched_) {
    if (watched.ranks.empty()) continue;
    const std::vector<int> ranks(watched.ranks.begin(), watched.ranks.end());
    const bool is_one = ranks.size() == 1;
    if (found.size() < most)
      found.push_back(fmt::format(
          "{} {} the {}: {}, {}processes would not; keep it in a local variable", check::list_ranks(ranks),
          is_one ? "changes" : "change", watched.variable->what,
          is_one ? "all virtual ranks see that" : "virtual ranks share it", is_one ? "other " : ""));
    else
      ++more;
  }
  if (more > 0) found.push_back(fmt::format("ranks change {} more global or static variables", more));
  return found;
}

}  // namespace dist::sim
