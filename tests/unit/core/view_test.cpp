#include "dist/core/view.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace dist {
namespace {

TEST(Mod, LiesInZeroToNForNegativeNumbersToo) {
  for (const int n : {1, 2, 3, 5, 8})
    for (int a = -20; a <= 20; ++a) {
      EXPECT_GE(mod(a, n), 0);
      EXPECT_LT(mod(a, n), n);
      EXPECT_EQ((a - mod(a, n)) % n, 0) << a << " mod " << n;
    }
  EXPECT_EQ(mod(-1, 5), 4);
}

TEST(Chunk, ChunksCoverEveryElementOnceAndDifferByAtMostOne) {
  std::vector<std::int32_t> memory(70000);
  for (const std::int64_t count : {0, 1, 2, 7, 63, 64, 1000, 65537})
    for (const std::int64_t n : {1, 2, 3, 5, 8, 257, 24576}) {
      const TensorView all{reinterpret_cast<std::byte*>(memory.data()), count, DType::i32};
      const std::byte* next = all.data;
      for (std::int64_t i = 0; i < n; ++i) {
        const TensorView part = chunk(all, i, n);
        ASSERT_EQ(part.data, next) << count << " elements, chunk " << i << " of " << n;
        ASSERT_GE(part.count, count / n);
        ASSERT_LE(part.count, count / n + (count % n != 0));
        ASSERT_EQ(part.dtype, DType::i32);
        next += part.bytes();
      }
      ASSERT_EQ(next, all.data + all.bytes());
    }
}

TEST(Chunk, BeginIsTheExactFloorWithoutOverflow) {
  for (std::int64_t count = 0; count < 100; ++count)
    for (std::int64_t n = 1; n < 20; ++n)
      for (std::int64_t i = 0; i <= n; ++i) ASSERT_EQ(chunk_begin(count, i, n), count * i / n);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(chunk_begin(huge, 24576, 24576), huge);
  EXPECT_EQ(chunk_begin(huge, 1, 2), huge / 2);
}

TEST(View, SliceMovesByWholeElements) {
  std::vector<double> memory(10);
  const TensorView all{reinterpret_cast<std::byte*>(memory.data()), 10, DType::f64, cuda(3)};
  const TensorView part = all.slice(4, 3);
  EXPECT_EQ(part.data, reinterpret_cast<std::byte*>(&memory[4]));
  EXPECT_EQ(part.bytes(), 24U);
  EXPECT_EQ(part.device, cuda(3));
}

}  // namespace
}  // namespace dist
