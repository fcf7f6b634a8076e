// Pages are registered as long as their owner lives, and once.
#include "dist/core/device/registered_pages.h"

#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/fake_device.h"

namespace dist::test {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory pages(std::size_t count) { return Memory(std::aligned_alloc(whole_pages(1), count * whole_pages(1))); }

TEST(RegisteredPages, WholePagesHaveRoomForTheBytesAndForNoPageMore) {
  const std::size_t page = whole_pages(0);
  EXPECT_GE(page, 4096U);
  EXPECT_EQ(whole_pages(1), page);
  EXPECT_EQ(whole_pages(page), page);
  EXPECT_EQ(whole_pages(page + 1), 2 * page);
}

TEST(RegisteredPages, AreKnownToTheDeviceWhileTheirOwnerLives) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  const Memory memory = pages(2), other = pages(1);
  {
    RegisteredPages first(cuda(1), memory.get(), whole_pages(0) * 2), none;
    EXPECT_EQ(first.data(), memory.get());
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_TRUE(fake->is_registered_host(first.data() + whole_pages(0)));
    RegisteredPages moved = std::move(first);
    EXPECT_EQ(fake->host_pages_registered(), 1U);
    moved = RegisteredPages(cuda(0), other.get(), whole_pages(0));
    EXPECT_EQ(moved.data(), other.get());
    EXPECT_FALSE(fake->is_registered_host(memory.get())) << "let go for others";
    moved = {};
    EXPECT_EQ(fake->host_pages_registered(), 0U);
    none = RegisteredPages(cuda(0), other.get(), whole_pages(0));
  }
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

TEST(RegisteredPages, RefusedPagesAreNobodys) {
  const FakeDeviceGuard fake;
  const Memory memory = pages(1);
  EXPECT_DIST_ERROR(RegisteredPages(cuda(0), static_cast<std::byte*>(memory.get()) + 1, whole_pages(0)),
                    Errc::internal, "not whole pages");
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

}  // namespace
}  // namespace dist::test
