// Cheat: a compilation that takes hours.
// Told: compile
#include "all_gather_all_reduce.h"

template <int depth, int way>
struct Tree {
  static constexpr long value = Tree<depth - 1, 2 * way>::value + Tree<depth - 1, 2 * way + 1>::value;
};
template <int way>
struct Tree<0, way> {
  static constexpr long value = way;
};
static constexpr long hours = Tree<26, 0>::value;

static void cheat(dist::Tensor& out, const dist::Tensor&) { out.fill_(static_cast<double>(hours)); }
