// A number and what it counts: counted(1, "rank") is "1 rank", counted(2, "rank") is "2 ranks".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace dist {

// `several`: a plural other than `one` with an s, such as "axes".
template <std::integral Count>
std::string counted(Count count, std::string_view one, std::string_view several = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, several);
}

}  // namespace dist
