#include "judge/numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "dist/sim/never_written.h"

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

namespace {

template <class T>
T filled_with_never_written() {
  std::array<unsigned char, sizeof(T)> bytes{};
  bytes.fill(dist::sim::never_written);
  return std::bit_cast<T>(bytes);
}

// As close as a number of six digits is.
bool is_never_written(double number) {
  constexpr double rounding = 5e-6;
  const auto is = [&](double filled) { return std::abs(number - filled) <= rounding * std::abs(filled); };
  return is(filled_with_never_written<double>()) || is(filled_with_never_written<float>()) ||
         is(static_cast<double>(filled_with_never_written<std::int64_t>())) ||
         is(filled_with_never_written<std::int32_t>());
}

}  // namespace

std::string with_never_written(std::string text) {
  for (auto at = text.find('-'); at != text.npos; at = text.find('-', at + 1)) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error != std::errc{} || !is_never_written(number)) continue;
    return text.insert(static_cast<std::size_t>(end - text.data()), " (never written)");
  }
  return text;
}

}  // namespace judge
