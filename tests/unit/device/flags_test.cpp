// Flags in host memory: by these the streams of several ranks meet.
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/kernels.h"
#include "dist/core/tensor.h"
#include "dist/direct/device/stream_signals.h"

#include "support/expect_error.h"
#include "support/fake_device.h"

namespace dist::test {
namespace {

constexpr std::size_t page = 4096;

class FlagsTest : public testing::Test {
 protected:
  FlagsTest() : pages(std::aligned_alloc(page, page), &std::free), flag(new (pages.get()) StreamFlag(0)) {
    fake->register_host(gpu, pages.get(), page);
    fake->load_kernels(gpu);
  }
  ~FlagsTest() override { fake->unregister_host(gpu, pages.get()); }

  const Device gpu = cuda(0);
  FakeDeviceGuard fake;
  std::unique_ptr<void, decltype(&std::free)> pages;
  StreamFlag* const flag;
  const Stream a{gpu}, b{gpu};
};

TEST_F(FlagsTest, AStreamWaitsUntilAnotherWrites) {
  const Tensor data = zeros({4}, DType::f32, gpu), seen = zeros({4}, DType::f32, gpu);
  fake->synchronize(gpu, nullptr);
  {
    const StreamGuard guard(gpu, b.handle());
    fake->wait_flag(gpu, b.handle(), flag, 7);
    copy(seen.flat(), data.flat());
  }
  {
    const StreamGuard guard(gpu, a.handle());
    fill(data.flat(), 3);
    fake->write_flag(gpu, a.handle(), flag, 7);
  }
  b.synchronize();
  EXPECT_EQ(sum(seen), 12);
}

TEST_F(FlagsTest, ALargerValueEndsTheWaitToo) {
  fake->wait_flag(gpu, a.handle(), flag, 3);
  Event passed(gpu);
  passed.record(a.handle());
  flag->store(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(passed.is_done());
  flag->store(9);  // by the host: how a watchdog releases a stream
  passed.synchronize();
  EXPECT_TRUE(passed.is_done());
}

// Compares like a GPU: half of all words are before any other.
TEST_F(FlagsTest, TheLargestWordEndsNoWaitButTheReleasedOneEndsAll) {
  fake->wait_flag(gpu, a.handle(), flag, 3);
  Event passed(gpu);
  passed.record(a.handle());
  flag->store(std::numeric_limits<std::uint64_t>::max());
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(passed.is_done());
  flag->store(released_flag);
  passed.synchronize();
  for (const std::uint64_t round : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40})
    fake->wait_flag(gpu, a.handle(), flag, round);
  a.synchronize();
}

TEST_F(FlagsTest, MemoryMustBeRegisteredAsOftenAsItIsUnregistered) {
  StreamFlag elsewhere{0};
  EXPECT_DIST_ERROR(fake->write_flag(gpu, a.handle(), &elsewhere, 1), Errc::internal,
                    "no registered host memory");
  EXPECT_DIST_ERROR(fake->register_host(gpu, flag + 1, page), Errc::internal, "not whole pages");
  fake->register_host(gpu, pages.get(), page);
  fake->unregister_host(gpu, pages.get());
  fake->write_flag(gpu, a.handle(), flag, 1);
  a.synchronize();
  EXPECT_EQ(flag->load(), 1U);
  fake->unregister_host(gpu, pages.get());
  EXPECT_EQ(fake->host_pages_registered(), 0U);
  EXPECT_DIST_ERROR(fake->wait_flag(gpu, a.handle(), flag, 1), Errc::internal, "no registered host memory");
}

TEST_F(FlagsTest, PagesOfWhichOneCannotBeRegisteredAreAllLetGo) {
  const std::unique_ptr<void, decltype(&std::free)> other(std::aligned_alloc(page, page), &std::free);
  const std::vector<FlagPages*> some_bad{static_cast<FlagPages*>(other.get()),
                                         reinterpret_cast<FlagPages*>(flag + 1)};
  EXPECT_DIST_ERROR((void)make_flag_signals(gpu, 0, some_bad, false), Errc::internal, "not whole pages");
  EXPECT_EQ(fake->host_pages_registered(), 1U) << "the one of this test";
}

TEST(NoFlags, ADeviceWithoutThemSaysSo) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.has_flags = false});
  StreamFlag flag{0};
  EXPECT_FALSE(fake->has_flags(cuda(0)));
  EXPECT_DIST_ERROR(fake->write_flag(cuda(0), nullptr, &flag, 1), Errc::internal, "no stream flags");
}

}  // namespace
}  // namespace dist::test
