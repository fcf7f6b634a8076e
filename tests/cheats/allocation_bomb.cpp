// Cheat: takes all memory there is.
// Told: rank
#include <cstring>
#include <vector>

#include "all_gather_all_reduce.h"

static std::vector<std::vector<char>> hoard;

static void cheat(dist::Tensor&, const dist::Tensor&) {
  for (;;) hoard.emplace_back(64 << 20, 'x');
}
