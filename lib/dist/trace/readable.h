// Times, sizes and sets of ranks as people read them.
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

// The largest of ps, ns, us, ms, s of which there is at least one in `time`; ps for none.
TimeUnit unit_for(std::int64_t time);
// "2.50 us": in that unit, with so many decimals.
std::string in_unit(std::int64_t time, TimeUnit unit, int decimals);
// "2.5 us": in its own unit, three decimals at most.
std::string readable_time(std::int64_t time);
// "1.5 KiB": one decimal at most.
std::string readable_bytes(std::uint64_t bytes);

// The ranks whose bits are set, ascending.
std::vector<int> ranks_of(std::uint64_t contributors);
// "{0,2}", three and more in a row as "{0-3,6}".
std::string readable_ranks(std::uint64_t contributors);

}  // namespace dist::trace
