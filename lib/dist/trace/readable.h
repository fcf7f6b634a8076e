// Times, sizes and sets of ranks in a form for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dist::trace {

struct TimeUnit {
  std::string_view name;  // "us"
  std::int64_t picoseconds = 1;
};

// The largest of ps, ns, us, ms, s that fits into `time` at least once; ps for 0.
TimeUnit unit_for(std::int64_t time);
// "2.50 us": in that unit, with `decimals` decimals.
std::string in_unit(std::int64_t time, TimeUnit unit, int decimals);
// "2.5 us": in the unit that suits it, with at most three decimals.
std::string readable_time(std::int64_t time);
// "1.5 KiB": with at most one decimal.
std::string readable_bytes(std::uint64_t bytes);

// The ranks whose bits are set, ascending.
std::vector<int> ranks_of(std::uint64_t contributors);
// "{0,2}"; three or more in a row become "{0-3,6}".
std::string readable_ranks(std::uint64_t contributors);

}  // namespace dist::trace
