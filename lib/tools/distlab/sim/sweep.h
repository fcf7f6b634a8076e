// --sweep of ./distlab sim: the numbers of ranks and the sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace distlab {

struct Sweep {
  std::vector<int> ranks;            // empty: not given
  std::vector<std::uint64_t> bytes;  // empty: not given
};

// Reads "ranks=2..4096,bytes=8..64MiB": lists, in which a..b means a, 2a, 4a, ... and b; KiB, MiB and GiB are
// allowed. Throws dist::Error{invalid_argument} that quotes the wrong part.
Sweep parse_sweep(const std::string& text);

}  // namespace distlab
