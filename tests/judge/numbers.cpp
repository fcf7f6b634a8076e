#include "judge/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace judge {

std::string number_text(const Json& number) {
  if (number.is_number_integer()) return fmt::format("{}", number.get<std::int64_t>());
  const double value = real(number);
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);
}

double real(const Json& number) {
  return number.is_number() ? number.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string text(const Numbers& numbers) {
  constexpr std::size_t most = 12;
  const auto shown = std::min(numbers.size(), most);
  return fmt::format("{{{}{}}}",
                     fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < numbers.size() ? ", ..." : "");
}

std::string difference(const Numbers& expected, const Numbers& got) {
  if (expected.size() != got.size())
    return fmt::format("{} and not {}", counted(std::ssize(got), "element"), expected.size());
  const auto at = std::ranges::mismatch(expected, got).in1 - expected.begin();
  const auto i = static_cast<std::size_t>(at);
  return fmt::format("element {} is {} and not {}", i, got[i], expected[i]);
}

}  // namespace judge
