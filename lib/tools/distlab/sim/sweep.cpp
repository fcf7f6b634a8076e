#include "distlab/sim/sweep.h"

#include <string_view>

#include "dist/core/fail.h"
#include "dist/simulate/simulate.h"

#include "distlab/size_text.h"

namespace distlab {
namespace {

[[noreturn]] void refuse(std::string_view part, std::string_view why) {
  dist::fail(
      dist::Errc::invalid_argument,
      "--sweep has \"{}\": {}; write a list such as ranks=2..4096,bytes=8..64MiB or ranks=4,64,bytes=8,1MiB",
      part, why);
}

std::uint64_t number(std::string_view text, std::string_view part) {
  try {
    return bytes_of(text);
  } catch (const dist::Error& error) {
    refuse(part, error.what());
  }
}

// "8", or "8..64MiB".
void read_item(std::string_view item, std::vector<std::uint64_t>& values) {
  const auto dots = item.find("..");
  if (dots == item.npos) return values.push_back(number(item, item));
  const std::uint64_t first = number(item.substr(0, dots), item), last = number(item.substr(dots + 2), item);
  if (first == 0) refuse(item, "doubling must start at 1 or more");
  if (first > last) refuse(item, "its end is smaller than its beginning");
  for (std::uint64_t value = first; value < last; value *= 2) values.push_back(value);
  values.push_back(last);
}

}  // namespace

Sweep parse_sweep(const std::string& text) {
  std::vector<std::uint64_t> ranks, bytes, *values = nullptr;
  std::string_view left = text;
  for (bool more = true; more;) {
    const auto comma = left.find(',');
    std::string_view part = left.substr(0, comma);
    more = comma != left.npos;
    if (more) left.remove_prefix(comma + 1);
    if (const auto equals = part.find('='); equals != part.npos) {
      const std::string_view key = part.substr(0, equals);
      if (key != "ranks" && key != "bytes") refuse(part, "the names are ranks and bytes");
      values = key == "ranks" ? &ranks : &bytes;
      if (!values->empty()) refuse(part, "that name is given twice");
      part.remove_prefix(equals + 1);
    }
    if (!values) refuse(part, "it must begin with ranks= or bytes=");
    read_item(part, *values);
  }
  Sweep sweep{{}, std::move(bytes)};
  for (const std::uint64_t n : ranks) {
    if (n < 1 || n > dist::sim::most_ranks)
      refuse(std::to_string(n), fmt::format("there can be 1 to {} ranks", dist::sim::most_ranks));
    sweep.ranks.push_back(static_cast<int>(n));
  }
  return sweep;
}

}  // namespace distlab
