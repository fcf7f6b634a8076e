#include "dist/transport/shared_copy.h"

#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace dist::net {
namespace {

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

constexpr std::size_t awkward_sizes[] = {1, 16383, 16384, 16385, 65536, 100'001, 1'000'003, 20'000'001};

using enum SharedCopy::Begin;

void expect_that_one_side_copies_all(SharedCopy::Begin at) {
  for (std::size_t bytes : awkward_sizes) {
    const auto from = some_bytes(bytes);
    std::vector<std::byte> to(bytes);
    Claim claim{};
    const SharedCopy work(claim, to.data(), from.data(), bytes);
    EXPECT_FALSE(work.is_done());
    work.run(at);
    EXPECT_TRUE(work.is_done());
    EXPECT_EQ(to, from) << bytes;
  }
}

TEST(SharedCopy, one_side_alone_copies_all) {
  expect_that_one_side_copies_all(front);
  expect_that_one_side_copies_all(back);
}

TEST(SharedCopy, two_sides_copy_each_block_once) {
  for (std::size_t bytes : awkward_sizes) {
    const auto from = some_bytes(bytes);
    std::vector<std::byte> to(bytes);
    Claim claim{};
    const SharedCopy work(claim, to.data(), from.data(), bytes);
    std::latch both(2);
    const auto side = [&](SharedCopy::Begin at) {
      both.arrive_and_wait();
      work.run(at);
    };
    std::jthread other(side, back);
    side(front);
    while (!work.await_others()) std::this_thread::yield();
    EXPECT_EQ(to, from) << bytes;
    const std::uint32_t blocks = claim.copied;
    other.join();
    EXPECT_EQ(claim.copied, blocks);
    EXPECT_EQ((claim.taken & 0xffffffff) + (claim.taken >> 32), blocks + 2);  // each side asked once more
  }
}

// Whoever comes late finds nothing to do, and leaves the memory alone.
TEST(SharedCopy, a_late_side_touches_nothing) {
  const auto from = some_bytes(100'000);
  std::vector<std::byte> to(from.size());
  Claim claim{};
  SharedCopy(claim, to.data(), from.data(), from.size()).run(front);
  SharedCopy(claim, nullptr, nullptr, from.size()).run(back);
  EXPECT_EQ(to, from);
}

TEST(SharedCopy, await_others_gives_up_while_a_block_is_missing) {
  const auto from = some_bytes(50'000);
  std::vector<std::byte> to(from.size());
  Claim claim{};
  ++claim.taken;  // by somebody who does not go on
  const SharedCopy work(claim, to.data(), from.data(), from.size());
  work.run(back);
  EXPECT_FALSE(work.await_others());
  EXPECT_TRUE(std::equal(to.begin() + 16384, to.end(), from.begin() + 16384));
  EXPECT_FALSE(std::equal(to.begin(), to.begin() + 16384, from.begin()));
}

// Where they meet depends on how fast each is, and on nothing else.
TEST(SharedCopy, each_side_begins_at_its_end) {
  const auto from = some_bytes(100'000);
  std::vector<std::byte> to(from.size());
  Claim claim{};
  claim.taken = 5;  // of seven blocks, by the side in front
  SharedCopy(claim, to.data(), from.data(), from.size()).run(back);
  EXPECT_TRUE(std::equal(to.begin() + 5 * 16384, to.end(), from.begin() + 5 * 16384));
  EXPECT_TRUE(std::all_of(to.begin(), to.begin() + 5 * 16384, [](std::byte b) { return b == std::byte{}; }));
}

}  // namespace
}  // namespace dist::net
