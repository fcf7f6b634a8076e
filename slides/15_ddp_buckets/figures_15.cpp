// Which bucket each of five gradients goes into, by lab 15's solution.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ddp_buckets.h"

int main() {
  const std::vector<lab::Size> sizes{{100}, {200}, {400}, {100}, {100}};
  std::vector<std::size_t> bucket_of(sizes.size());
  const auto buckets = lab::fill_buckets(sizes, {300, 400});
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket)
    for (const std::size_t gradient : buckets[bucket]) bucket_of[gradient] = bucket;
  fmt::print("bucket {}\n", fmt::join(bucket_of, " "));
}
