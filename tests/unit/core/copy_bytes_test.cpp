// Copies of host memory: the right bytes for all sizes and positions, and no byte beside them changes.
#include "dist/core/copy_bytes.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
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

#ifdef __x86_64__
TEST(CopyBytes, EveryInstructionSetCopiesTheSameLines) {
  constexpr std::size_t line = 64, most = 70 * line;
  alignas(line) static std::byte target[most + line];
  const auto source = noise(most + line);
  for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > simd_level()) continue;  // this CPU does not have it
    const LineCopiers copiers = line_copiers(level);
    for (CopyLines* const copy_lines : {copiers.cached, copiers.streamed})
      for (const std::size_t lines : {0, 1, 2, 3, 64, 69, 70})
        for (const std::size_t from : {0, 1, 33}) {
          std::ranges::fill(target, std::byte{0x5a});
          copy_lines(target, source.data() + from, lines);
          EXPECT_EQ(std::memcmp(target, source.data() + from, lines * line), 0) << lines << " lines";
          EXPECT_EQ(std::ranges::count(std::span(target).subspan(lines * line), std::byte{0x5a}),
                    static_cast<std::ptrdiff_t>(sizeof target - lines * line))
              << "beyond " << lines << " lines";
        }
  }
}
#endif

}  // namespace
}  // namespace dist
