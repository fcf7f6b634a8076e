#include "dist/transport/engine/shared_copy.h"

#include <algorithm>
#include <latch>
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

constexpr std::size_t awkward_sizes[] = {1, 4095, 4096, 4097, 65536, 100'001, 1'000'003, 20'000'001};

TEST(SharedCopy, the_receiver_alone_copies_all) {
  for (std::size_t bytes : awkward_sizes) {
    const auto from = some_bytes(bytes);
    std::vector<std::byte> to(bytes);
    Claim claim{};
    EXPECT_FALSE(SharedCopy(claim, to.data(), from.data(), bytes).run_receiver());
    EXPECT_EQ(to, from) << bytes;
  }
}

TEST(SharedCopy, two_sides_copy_all) {
  for (std::size_t bytes : awkward_sizes) {
    const auto from = some_bytes(bytes);
    std::vector<std::byte> to(bytes);
    Claim claim{};
    const SharedCopy work(claim, to.data(), from.data(), bytes);
    std::latch both(2);
    std::jthread sender([&] {
      both.arrive_and_wait();
      work.run_sender();
    });
    both.arrive_and_wait();
    if (work.run_receiver())
      while (!work.await_sender()) std::this_thread::yield();
    EXPECT_EQ(to, from) << bytes;
  }
}

// A side that comes late finds nothing to do and leaves the memory alone, and the other does not wait for it.
TEST(SharedCopy, a_late_sender_touches_nothing) {
  const auto from = some_bytes(100'000);
  std::vector<std::byte> to(from.size());
  Claim claim{};
  SharedCopy(claim, to.data(), from.data(), from.size()).run_receiver();
  SharedCopy(claim, nullptr, nullptr, from.size()).run_sender();
  EXPECT_EQ(to, from);
}

constexpr std::size_t block = 4096;  // of 100'000 bytes: 25 blocks, the sender's from the 14th on

TEST(SharedCopy, await_sender_gives_up_while_its_part_is_missing) {
  const auto from = some_bytes(100'000);
  std::vector<std::byte> to(from.size());
  Claim claim{};
  claim.taken = std::uint64_t{1} << 63;  // it came, and does not go on
  const SharedCopy work(claim, to.data(), from.data(), from.size());
  EXPECT_TRUE(work.run_receiver());
  EXPECT_FALSE(work.await_sender());
  const auto middle = static_cast<std::ptrdiff_t>(13 * block);
  EXPECT_TRUE(std::equal(to.begin(), to.begin() + middle, from.begin()));
  EXPECT_TRUE(std::all_of(to.begin() + middle, to.end(), [](std::byte b) { return b == std::byte{}; }));
}

// Which blocks each side copies when the sender comes while the receiver has taken this many of 25.
TEST(SharedCopy, they_meet_in_the_middle_or_where_the_receiver_is) {
  const auto from = some_bytes(100'000);
  const auto at = [&](std::size_t blocks) {
    return static_cast<std::ptrdiff_t>(std::min(from.size(), blocks * block));
  };
  for (const std::size_t taken : {0u, 2u, 12u, 13u, 14u, 24u, 25u}) {
    std::vector<std::byte> by_sender(from.size()), by_receiver(from.size()), expected(from.size());
    Claim claim{};
    claim.taken = taken;
    SharedCopy(claim, by_sender.data(), from.data(), from.size()).run_sender();
    const std::ptrdiff_t meet = at(std::max<std::size_t>(13, taken));
    std::copy(from.begin() + meet, from.end(), expected.begin() + meet);
    EXPECT_EQ(by_sender, expected) << taken;
    const SharedCopy rest(claim, by_receiver.data(), from.data(), from.size());
    const bool is_shared = rest.run_receiver();
    EXPECT_EQ(is_shared, taken < 25) << taken;
    EXPECT_EQ(rest.is_sender_done(), is_shared) << taken;
    std::ranges::fill(expected, std::byte{});
    std::copy(from.begin() + at(taken), from.begin() + meet, expected.begin() + at(taken));
    EXPECT_EQ(by_receiver, expected) << taken;
  }
}

}  // namespace
}  // namespace dist::net
