// Sums: what is drawn at random.
#include <cmath>

#include "judge/sums.h"

namespace judge {
namespace {

template <class Draw>
Sum drawn(int ranks, int elements, const std::string& dtype, Draw draw) {
  Sum sum{.dtype = dtype};
  for (int rank = 0; rank < ranks; ++rank) {
    Json numbers = Json::array();
    for (int i = 0; i < elements; ++i) numbers.push_back(draw(rank));
    sum.of.push_back(numbers);
  }
  return sum;
}

}  // namespace

Sum small_numbers(Random& random, int ranks, int elements, const std::string& dtype) {
  return drawn(ranks, elements, dtype, [&](int rank) -> Json {
    const std::int64_t number = 100 * (rank + 1) + random.between(0, 99);
    if (dtype == "i64") return number;
    return static_cast<double>(number);
  });
}

// The leading digits are small_numbers(), so that one number instead of another is far away.
Sum long_numbers(Random& random, int ranks, int elements) {
  constexpr double leading = 1 << 30;
  return drawn(ranks, elements, "f64", [&](int rank) -> Json {
    const int first = 100 * (rank + 1) + random.between(0, 99);
    return leading * first + 2 * random.between(0, 1 << 20) + 1;
  });
}

// The sum of 20 ranks still fits.
Sum large_integers(Random& random, int ranks, int elements) {
  constexpr std::int64_t leading = std::int64_t{1} << 53;
  return drawn(ranks, elements, "i64", [&](int) -> Json {
    const std::int64_t first = random.between(8, 50);
    return leading * first + 2 * std::int64_t{random.between(0, 1 << 20)} + 1;
  });
}

Sum order_matters(Random& random, int ranks, int elements) {
  return drawn(ranks, elements, "f32", [&](int) -> Json {
    const double size = std::pow(10, random.between(0, 6)) * random.between(100, 999) / 97;
    return static_cast<double>(static_cast<float>(random.between(0, 1) == 0 ? size : -size));
  });
}

Sum one_sum(Random& random, int ranks, int elements, std::int64_t segment) {
  Sum sum = small_numbers(random, ranks, elements);
  sum.segment = segment;
  return sum;
}

Sum large_sum(int ranks, std::int64_t elements, std::int64_t segment) {
  Sum sum;
  sum.segment = segment;
  sum.large = elements;
  sum.large_ranks = ranks;
  return sum;
}

}  // namespace judge
