// --sweep of ./distlab sim: which rank counts and sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace distlab {

struct Sweep {
  std::vector<int> ranks;            // empty: not said
  std::vector<std::uint64_t> bytes;  // empty: not said
};

// "ranks=2..4096,bytes=8..64MiB": lists, in which a..b stands for a, 2a, 4a, ... and b; KiB, MiB and GiB are
// known. dist::Error{invalid_argument} quotes the part that makes no sense.
Sweep parse_sweep(const std::string& text);

}  // namespace distlab
