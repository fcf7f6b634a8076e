// Ranks whose devices do not reach each other work through the host, in memory that is registered with the
// devices. Messages between them: device_messages_test.cpp.
#include "dist/backend/staging.h"

#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support/fake_device.h"
#include "support/ranks.h"
#include "unit/device/device_sweep.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

TEST(Staging, GivesWhatTheHostGives) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2, .reaches_all = false});
  run_ranks(
      3,
      [&](int rank) {
        for (const DType dtype : swept_dtypes())
          for (const std::int64_t count : swept_counts({0, 1, 1000, 20'000}))
            sweep_collectives(device_of(rank), count, dtype);
        sweep_collectives(device_of(rank), 1000, DType::f32, {.async_op = true});
      },
      on_cuda());
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

TEST(Staging, CopiesOfCollectivesTakeNoDetour) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2, .reaches_all = false});
  run_ranks(
      2,
      [&](int rank) {
        const Device gpu = device_of(rank);
        for (const std::int64_t count : {10, 100'000, 10}) {
          Tensor t = full({count}, rank + 1, DType::f32, gpu);
          device_api(DeviceType::cuda).synchronize(gpu, current_stream(gpu));
          barrier();
          const std::size_t before = fake->detours();
          barrier();
          all_reduce(t);
          barrier();
          EXPECT_EQ(fake->detours(), before) << count;
          EXPECT_EQ(fake->reductions(), 0U);
          barrier();
          EXPECT_EQ(sum(t), 3.0 * static_cast<double>(count));
        }
      },
      on_cuda());
}

// A copy from or to memory that is not registered waits for its stream inside the driver, and so does the
// thread that would notice that the stream waits for a rank that has died.
TEST(Staging, NobodyWaitsInsideTheDriver) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.longest_rest = std::chrono::milliseconds(2)});
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({100}, rank + 1, DType::f32, cuda(0));
        all_reduce(t);  // on a stream of the group, for which this rank's waits
        const Tensor here = t.to(cpu);
        t.fill_(1);
        t.copy_(here);
        t.mul_(t);
        rank == 0 ? send(t, 1) : recv(t, 0);
        t.mul_(t);
        EXPECT_EQ(sum(t), 100 * 81);
      },
      on_cuda());
  EXPECT_GT(fake->detours(), 0U);
  EXPECT_EQ(fake->waiting_detours(), 0U);
}

TEST(Staging, ItsRoomGrowsAndIsLetGo) {
  const FakeDeviceGuard fake;
  {
    StagingRoom memory(cuda(0));
    std::byte* const first = memory.at_least(100);
    EXPECT_EQ(memory.at_least(4096), first) << "a page was registered";
    (void)memory.at_least(10'000);
    EXPECT_EQ(fake->host_pages_registered(), 1U);
  }
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

}  // namespace
}  // namespace dist::test
