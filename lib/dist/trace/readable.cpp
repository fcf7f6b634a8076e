#include "dist/trace/readable.h"

#include <array>

#include <fmt/format.h>

namespace dist::trace {
namespace {

// "2.500" -> "2.5", "3.0" -> "3"
std::string without_trailing_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

std::string number_in_unit(std::int64_t time, TimeUnit unit, int decimals) {
  return fmt::format("{:.{}f}", static_cast<double>(time) / static_cast<double>(unit.picoseconds), decimals);
}

}  // namespace

TimeUnit unit_for(std::int64_t time) {
  constexpr std::array units{TimeUnit{"s", 1'000'000'000'000}, TimeUnit{"ms", 1'000'000'000},
                             TimeUnit{"us", 1'000'000}, TimeUnit{"ns", 1'000}};
  for (const TimeUnit& unit : units) {
    if (time >= unit.picoseconds) return unit;
  }
  return {"ps", 1};
}

std::string in_unit(std::int64_t time, TimeUnit unit, int decimals) {
  return fmt::format("{} {}", number_in_unit(time, unit, decimals), unit.name);
}

std::string readable_time(std::int64_t time) {
  const TimeUnit unit = unit_for(time);
  return fmt::format("{} {}", without_trailing_zeros(number_in_unit(time, unit, 3)), unit.name);
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{} {}", without_trailing_zeros(fmt::format("{:.1f}", value)), units[unit]);
}

std::vector<int> ranks_of(std::uint64_t contributors) {
  std::vector<int> ranks;
  for (int rank = 0; rank < 64; ++rank) {
    if (contributors >> rank & 1) ranks.push_back(rank);
  }
  return ranks;
}

std::string readable_ranks(std::uint64_t contributors) {
  const auto ranks = ranks_of(contributors);
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i]);
    if (end - i > 1) text += fmt::format("-{}", ranks[end - 1]);
    i = end;
  }
  return "{" + text + "}";
}

}  // namespace dist::trace
