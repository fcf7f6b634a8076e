// Copies of host memory: the same bytes whatever the sizes and places, and nothing beside them.
#include "dist/core/copy_bytes.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace dist {
namespace {

std::vector<std::byte> noise(std::size_t bytes) {
  std::mt19937 random(static_cast<unsigned int>(bytes));
  std::vector<std::byte> all(bytes);
  for (auto& each : all) each = static_cast<std::byte>(random());
  return all;
}

TEST(CopyBytes, CopiesThemAndNothingElse) {
  constexpr std::size_t margin = 128;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{5000},
        past_cache_bytes - 1, past_cache_bytes, past_cache_bytes + 77})
    for (const std::size_t to : {0, 1, 31, 64})
      for (const std::size_t from : {0, 3, 64}) {
        const auto source = noise(bytes + margin);
        std::vector<std::byte> target(bytes + 2 * margin, std::byte{0x5a}), expected = target;
        copy_bytes(target.data() + to, source.data() + from, bytes);
        if (bytes > 0) std::memcpy(expected.data() + to, source.data() + from, bytes);
        EXPECT_EQ(target, expected) << bytes << " bytes from " << from << " to " << to;
      }
}

TEST(CopyBytes, CopiesPartsOfALargeWhole) {
  const auto source = noise(100'000);
  for (const std::size_t bytes : {100, 4096, 50'001}) {
    std::vector<std::byte> target(source.size());
    for (std::size_t at = 0; at < source.size(); at += bytes)
      copy_bytes(target.data() + at, source.data() + at, std::min(bytes, source.size() - at),
                 past_cache_bytes);
    EXPECT_EQ(target, source) << "in parts of " << bytes;
  }
}

}  // namespace
}  // namespace dist
