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

TEST(SharedCopy, the_receiver_alone_copies_all) {
  for (std::size_t bytes : awkward_sizes) {
    const auto from = some_bytes(bytes);
    std::vector<std::byte> to(bytes);
    Claim claim{};
    const SharedCopy work(claim, to.data(), from.data(), bytes);
    EXPECT_FALSE(work.is_done());
    work.run(front);
    EXPECT_TRUE(work.is_done());
    EXPECT_EQ(to, from) << bytes;
  }
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
    EXPECT_EQ((claim.taken & 0xffffffff) + (claim.taken >> 32), blocks);
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
  work.run(front);
  EXPECT_FALSE(work.await_others());
  EXPECT_TRUE(std::equal(to.begin() + 16384, to.end(), from.begin() + 16384));
  EXPECT_FALSE(std::equal(to.begin(), to.begin() + 16384, from.begin()));
}

// Which blocks each side copies when the sender comes while the receiver has taken so many of seven.
TEST(SharedCopy, they_meet_in_the_middle_or_where_the_receiver_is) {
  const auto from = some_bytes(100'000);
  for (const std::size_t in_front : {0u, 2u, 4u, 5u, 7u}) {
    std::vector<std::byte> by_sender(from.size()), by_receiver(from.size());
    Claim claim{};
    claim.taken = in_front;
    SharedCopy(claim, by_sender.data(), from.data(), from.size()).run(back);
    const auto meet = std::min(from.size(), std::max<std::size_t>(4, in_front) * 16384);
    EXPECT_TRUE(std::equal(by_sender.begin() + static_cast<std::ptrdiff_t>(meet), by_sender.end(),
                           from.begin() + static_cast<std::ptrdiff_t>(meet)))
        << in_front;
    EXPECT_TRUE(std::all_of(by_sender.begin(), by_sender.begin() + static_cast<std::ptrdiff_t>(meet),
                            [](std::byte b) { return b == std::byte{}; }))
        << in_front;
    SharedCopy(claim, by_receiver.data(), from.data(), from.size()).run(front);
    const auto first = static_cast<std::ptrdiff_t>(std::min(meet, in_front * 16384));
    EXPECT_TRUE(std::equal(by_receiver.begin() + first,
                           by_receiver.begin() + static_cast<std::ptrdiff_t>(meet), from.begin() + first))
        << in_front;
  }
}

}  // namespace
}  // namespace dist::net
