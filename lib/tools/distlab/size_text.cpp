#include "distlab/size_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string>

#include "dist/core/fail.h"

namespace distlab {
namespace {

[[noreturn]] void refuse(const char* why) { dist::fail(dist::Errc::invalid_argument, "{}", why); }

}  // namespace

std::uint64_t bytes_of(std::string_view text) {
  if (text.starts_with('-')) refuse("it must not be negative");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) refuse("it is too large");
  if (error != std::errc()) refuse("it has no number");
  std::string unit(end, text.data() + text.size());
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::string_view prefixes = "kmgt";
  int shift = 0;
  if (!unit.empty() && prefixes.find(unit[0]) != prefixes.npos) {
    shift = 10 * (static_cast<int>(prefixes.find(unit[0])) + 1);
    unit.erase(0, 1);
  }
  if (!(unit.empty() || unit == "b" || (unit == "ib" && shift > 0)))
    refuse("its unit must be B, KiB, MiB, GiB or TiB");
  if (value > std::uint64_t(std::numeric_limits<std::int64_t>::max()) >> shift) refuse("it is too large");
  return value << shift;
}

}  // namespace distlab
