#include "dist/data/randperm.h"

#include <numeric>
#include <random>
#include <utility>

#include "dist/core/fail.h"

namespace dist::data {

// The shuffle of Fisher and Yates, in Durstenfeld's form of 1964: element i changes places with a random one
// of those that are not settled yet. The generator is the Mersenne Twister, whose numbers the standard fixes;
// its seed has 32 bits, and higher bits are ignored (as in PyTorch).
std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  constexpr std::int64_t limit = (std::int64_t{1} << 32) / 20;
  if (n < 0) fail(Errc::invalid_argument, "randperm({}): n must be at least 0", n);
  if (n >= limit)
    fail(Errc::unsupported,
         "randperm({}): PyTorch's order is implemented below {} elements only; shuffle parts", n, limit);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 draw(static_cast<std::uint32_t>(seed));
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + draw() % (order.size() - i)]);
  return order;
}

}  // namespace dist::data
