#include "dist/data/randperm.h"

#include <numeric>
#include <random>
#include <utility>

#include "dist/core/fail.h"

namespace dist::data {

// Fisher and Yates' shuffle, as Durstenfeld wrote it down in 1964: element i changes places with one of those
// not yet settled. The generator is the Mersenne Twister, whose numbers the standard fixes; its seed has 32
// bits, higher ones do not count (nor do they in PyTorch).
std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  constexpr std::int64_t limit = (std::int64_t{1} << 32) / 20;
  if (n < 0) fail(Errc::invalid_argument, "randperm({}): there is no order of fewer than no elements", n);
  if (n >= limit)
    fail(Errc::unsupported,
         "randperm({}): PyTorch's order is known here below {} elements only; shuffle parts", n, limit);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 draw(static_cast<std::uint32_t>(seed));
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + draw() % (order.size() - i)]);
  return order;
}

}  // namespace dist::data
