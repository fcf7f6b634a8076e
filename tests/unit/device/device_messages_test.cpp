// Messages of device tensors: copies out of the sender's device memory, which the hosts only order; and what
// two and eight devices do, with and without a path between them.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/core/sanitizer.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/fake_nccl.h"
#include "support/process_ranks.h"
#include "support/ranks.h"
#include "unit/device/device_case.h"
#include "unit/device/device_sweep.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

// What all ranks together did between two barriers.
struct Done {
  std::size_t launches, host_bytes;
};
Done during(FakeDevice& fake, const std::function<void()>& call) {
  barrier();
  const std::size_t launches = fake.launches(), host_bytes = fake.host_bytes();
  barrier();
  call();
  barrier();
  const Done done{fake.launches() - launches, fake.host_bytes() - host_bytes};
  barrier();
  return done;
}

TEST(DeviceMessage, IsOneCopyAndNothingGoesThroughTheHost) {
  for (const int devices : {1, 2}) {
    const FakeDeviceGuard fake(FakeDeviceOptions{.count = devices});
    run_ranks(
        2,
        [&](int rank) {
          const Device mine = device_of(rank);
          for (const std::int64_t count : {0, 1, 1000, 100'000}) {
            Tensor t = full({count}, rank + 1, DType::f32, mine), in = full({count}, 9, DType::f32, mine);
            const std::size_t copies = count > 0 ? 1 : 0;
            const Done one = during(*fake.operator->(), [&] { rank == 0 ? send(t, 1) : recv(in, 0); });
            EXPECT_EQ(one.launches, copies) << count;
            EXPECT_EQ(one.host_bytes, 0U) << count;
            const Done two = during(*fake.operator->(), [&] {
              Work got = irecv(t, 1 - rank, {.tag = 3});
              isend(in, 1 - rank, {.tag = 3}).wait();
              got.wait();
            });
            EXPECT_EQ(two.launches, 2 * copies) << count;
            EXPECT_EQ(two.host_bytes, 0U) << count;
            EXPECT_EQ(sum(in), static_cast<double>(count) * (rank == 0 ? 9 : 1));
            EXPECT_EQ(sum(t), static_cast<double>(count) * (rank == 0 ? 1 : 9));
          }
        },
        on_cuda());
  }
}

// A receive writes to its tensor after what was enqueued before it, and a send's tensor may be changed after
// it.
TEST(DeviceMessage, IsOrderedWithTheStreamsOfBothSides) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.longest_rest = std::chrono::milliseconds(2)});
  run_ranks(
      2,
      [&](int rank) {
        const Tensor ten = full({100}, 10, DType::f32, cuda(0));
        Tensor t = zeros({100}, DType::f32, cuda(0));
        for (int i = 0; i < 5; ++i) {
          t.fill_(rank == 0 ? i : -1);
          t.mul_(ten);
          rank == 0 ? send(t, 1) : recv(t, 0);
          EXPECT_EQ(sum(t), 1000 * i);
          Work work = rank == 0 ? irecv(t, 1) : isend(t, 0);
          work.wait();
          t.fill_(-5);
        }
      },
      on_cuda());
}

// The first stream is stuck, the second is not, and yet the messages arrive in the order of the calls.
TEST(DeviceMessage, ComesInTheOrderOfTheCalls) {
  const FakeDeviceGuard fake;
  run_ranks(
      2,
      [&](int rank) {
        if (rank == 1) {
          Tensor first = zeros({10}, DType::f32, cuda(0)), second = zeros({10}, DType::f32, cuda(0));
          recv(first, 0);
          recv(second, 0);
          EXPECT_EQ(sum(first), 10);
          EXPECT_EQ(sum(second), 20);
          return;
        }
        const Stream stuck(cuda(0));
        fake->hold(cuda(0), stuck.handle(), true);
        Tensor first = zeros({10}, DType::f32, cuda(0)), second = full({10}, 2, DType::f32, cuda(0));
        device_api(DeviceType::cuda).synchronize(cuda(0), current_stream(cuda(0)));
        Work slow;
        {
          const StreamGuard guard(cuda(0), stuck.handle());
          first.fill_(1);
          slow = isend(first, 1);
        }
        Work quick = isend(second, 1);
        dist::sleep(std::chrono::milliseconds(30));
        fake->hold(cuda(0), stuck.handle(), false);
        slow.wait();
        quick.wait();
      },
      on_cuda());
}

// The progress thread of a group waits for the other ranks' calls, and messages move in the meantime.
TEST(DeviceMessage, MovesWhileACollectiveWaits) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.longest_rest = std::chrono::microseconds(200)});
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({1000}, rank, DType::f32, cuda(0)), total = ones({1000}, DType::f32, cuda(0));
        if (rank == 0) {
          send(t, 1);
          recv(t, 1, {.tag = 1});
          all_reduce(total);
          EXPECT_EQ(sum(t), 500);
        } else {
          const Tensor half = full({1000}, 0.5, DType::f32, cuda(0));
          Work got = irecv(t, 0), put = isend(half, 0, {.tag = 1});
          Work summed = all_reduce(total, ReduceOp::sum, {.async_op = true});
          summed.wait();
          got.wait();
          put.wait();
          EXPECT_EQ(sum(t), 0);
        }
        EXPECT_EQ(sum(total), 2000);
      },
      on_cuda());
}

TEST(DeviceMessage, FindsItsReceiveByTagAndFromAnyRank) {
  const FakeDeviceGuard fake;
  run_ranks(
      3,
      [&](int rank) {
        Tensor t = full({10}, rank, DType::f32, cuda(0));
        if (rank != 0) {
          send(t, 0, {.tag = static_cast<std::uint64_t>(rank)});
          send(t, 0);
          return;
        }
        EXPECT_EQ(recv(t, {.tag = 2}).source_rank(), 2);
        EXPECT_EQ(sum(t), 20);
        EXPECT_EQ(recv(t, {.tag = 1}).source_rank(), 1);
        int sources = 0;
        for (int i = 0; i < 2; ++i) {
          const int source = recv(t).source_rank();
          EXPECT_EQ(sum(t), 10 * source);
          sources += source;
        }
        EXPECT_EQ(sources, 3);
      },
      on_cuda());
}

TEST(DeviceMessage, ToItself) {
  const FakeDeviceGuard fake;
  for (const int ranks : {1, 2})
    run_ranks(
        ranks,
        [&](int rank) {
          Tensor t = full({10}, 3, DType::f32, cuda(0)), in = zeros({10}, DType::f32, cuda(0));
          Work put = isend(t, rank);
          recv(in, rank);
          put.wait();
          EXPECT_EQ(sum(in), 30);
        },
        on_cuda());
}

// All messages are offered before the batch is posted: the batch is then one launch, whatever its size.
TEST(DeviceMessage, ABatchIsOneLaunch) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  run_ranks(
      4,
      [&](int rank) {
        const Device mine = device_of(rank);
        std::vector<Tensor> ins, outs;
        for (int r = 0; r < 4; ++r) ins.push_back(zeros({100 * r + 7}, DType::f32, mine));
        for (int r = 0; r < 4; ++r) outs.push_back(full({100 * rank + 7}, 10 * rank + r, DType::f32, mine));
        device_api(DeviceType::cuda).synchronize(mine, current_stream(mine));
        std::vector<Work> works;
        std::vector<P2P> receives;
        for (int r = 0; r < 4; ++r) {
          if (r == rank) continue;
          works.push_back(isend(outs[static_cast<std::size_t>(r)], r));
          receives.push_back({P2P::irecv, ins[static_cast<std::size_t>(r)], r});
        }
        const Done done = during(*fake.operator->(), [&] {
          for (Work& work : batch_isend_irecv(receives)) work.wait();
        });
        for (Work& work : works) work.wait();
        EXPECT_EQ(done.launches, 4U) << "one of each rank";
        EXPECT_EQ(done.host_bytes, 0U);
        for (int r = 0; r < 4; ++r)
          if (r != rank) {
            EXPECT_EQ(sum(ins[static_cast<std::size_t>(r)]), (10.0 * r + rank) * (100 * r + 7));
          }
      },
      on_cuda());
}

// A rank that sends one message after another must not wait for a batch that waits for both.
TEST(DeviceMessage, ABatchTakesWhatComesBeforeTheRest) {
  const FakeDeviceGuard fake;
  run_ranks(
      2,
      [&](int rank) {
        Tensor a = full({10}, 1, DType::f32, cuda(0)), b = full({10}, 2, DType::f32, cuda(0));
        if (rank == 0) {
          send(a, 1);
          send(b, 1);
        } else {
          for (Work& work : batch_isend_irecv({{P2P::irecv, b, 0}, {P2P::irecv, a, 0}})) work.wait();
          EXPECT_EQ(sum(b), 10);
          EXPECT_EQ(sum(a), 20);
        }
      },
      on_cuda());
}

TEST(DeviceMessage, GoesThroughTheHostOnlyBetweenDevicesWithoutAPath) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2, .reaches_all = false});
  run_ranks(
      4,
      [&](int rank) {
        const Device mine = device_of(rank);
        constexpr std::int64_t count = 1000;
        for (const int distance : {1, 2}) {  // a neighbour is on the other device, the next one on the same
          Tensor in = zeros({count}, DType::f32, mine);
          const Tensor out = full({count}, rank, DType::f32, mine);
          const int from = (rank + 4 - distance) % 4;
          const Done done = during(*fake.operator->(), [&] {
            Work got = irecv(in, from);
            isend(out, (rank + distance) % 4).wait();
            got.wait();
          });
          EXPECT_EQ(sum(in), static_cast<double>(count) * from);
          // Down to the host and up from it, for each of the four ranks.
          EXPECT_EQ(done.host_bytes, distance == 1 ? 4 * 2 * count * sizeof(float) : 0U);
        }
      },
      on_cuda());
}

TEST(DeviceMessage, OfMemoryThatIsForeignGoesThroughTheHost) {
  const FakeDeviceGuard fake;
  run_ranks(
      2,
      [&](int rank) {
        const Tensor owner = full({100}, rank + 1, DType::f32, cuda(0));
        fake->make_foreign(owner.raw());
        Tensor t = Tensor::from_blob(owner.raw(), {100}, DType::f32, cuda(0));
        rank == 0 ? send(t, 1) : recv(t, 0);
        EXPECT_EQ(sum(t.clone()), 100);
      },
      on_cuda());
}

TEST(DeviceMessage, OfAnotherSizeIsRefusedOnBothSides) {
  const FakeDeviceGuard fake;
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = zeros({rank == 0 ? 100 : 101}, DType::f32, cuda(0));
        EXPECT_DIST_ERROR(rank == 0 ? send(t, 1) : recv(t, 0), Errc::mismatch,
                          "rank 0 sends 400 bytes, and rank 1 expects 404");
      },
      on_cuda());
}

TEST(DeviceMessage, BetweenADeviceAndACpuIsRefused) {
  const FakeDeviceGuard fake;
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = zeros({100}, DType::f32, rank == 0 ? cuda(0) : cpu);
        if (rank == 0) {
          EXPECT_THROW(send(t, 1, {.timeout = std::chrono::seconds(5)}), Error);
        } else {
          EXPECT_DIST_ERROR(recv(t, 0), Errc::mismatch, "is on a device");
        }
      },
      on_cuda());
}

TEST(DeviceMessage, ThatNobodySendsEndsByItsTimeout) {
  const FakeDeviceGuard fake;
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({10}, rank, DType::f32, cuda(0));
        if (rank == 1) {
          EXPECT_DIST_ERROR(recv(t, 0, {.timeout = std::chrono::milliseconds(200)}), Errc::timeout, "rank 0");
        }
        barrier();
        rank == 0 ? send(t, 1, {.tag = 1}) : recv(t, 0, {.tag = 1});
        EXPECT_EQ(sum(t), 0);
      },
      on_cuda());
}

TEST(NcclDeviceMessage, IsACopyOutOfDeviceMemory) {
  const FakeNcclGuard fake(FakeDeviceOptions{.count = 2});
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({1000}, rank + 1, DType::f32, device_of(rank));
        const Done done = during(fake.device(), [&] { rank == 0 ? send(t, 1) : recv(t, 0); });
        EXPECT_EQ(done.launches, 1U);
        EXPECT_EQ(done.host_bytes, 0U);
        EXPECT_EQ(sum(t), 1000);
      },
      on_nccl());
}

// Each process counts its own: the receiver copies.
TEST(DeviceMessageOfProcesses, IsOneCopyOfTheReceiver) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  ProcessRanks ranks(2, [](int rank, const auto&) {
    auto* const fake = new FakeDeviceGuard(FakeDeviceOptions{.caches = true});
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
    Tensor t = full({100'000}, rank + 1, DType::f32, cuda(0));
    device_api(DeviceType::cuda).synchronize(cuda(0), current_stream(cuda(0)));
    const std::size_t launches = (*fake)->launches(), host_bytes = (*fake)->host_bytes();
    for (int i = 0; i < 3; ++i) rank == 0 ? send(t, 1) : recv(t, 0);
    const auto report = fmt::format("{} launches, {} bytes through the host", (*fake)->launches() - launches,
                                    (*fake)->host_bytes() - host_bytes);
    const bool right = sum(t) == 100'000;
    destroy_process_group();
    return right ? report : "wrong";
  });
  const auto reports = ranks.join(std::chrono::seconds(100));
  EXPECT_EQ(reports[0].text, "0 launches, 0 bytes through the host");
  EXPECT_EQ(reports[1].text, "3 launches, 0 bytes through the host");
}

TEST(DeviceMessageOfProcesses, GoesThroughTheHostWhereNoProcessMapsTheMemory) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  ProcessRanks ranks(2, [](int rank, const auto&) {
    new FakeDeviceGuard(FakeDeviceOptions{.exports = false});
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
    Tensor t = full({100'000}, rank + 1, DType::f32, cuda(0));
    rank == 0 ? send(t, 1) : recv(t, 0);
    const double got = sum(t);
    destroy_process_group();
    return fmt::format("{}", got);
  });
  for (const auto& report : ranks.join(std::chrono::seconds(100))) EXPECT_EQ(report.text, "100000");
}

TEST(DeviceMessageOfProcesses, EndsWithADeath) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  for (const int killed_rank : {0, 1}) {
    ProcessRanks ranks(2, [&](int rank, const auto& ready) -> std::string {
      new FakeDeviceGuard;
      init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(60)});
      Tensor t = ones({30'000}, DType::f32, cuda(0));
      try {
        for (int i = 0;; ++i) {
          rank == 0 ? send(t, 1) : recv(t, 0);
          if (i == 5) ready();
        }
      } catch (const Error& error) {
        return error.what();
      }
    });
    ASSERT_TRUE(ranks.wait_ready(std::chrono::seconds(30)));
    ranks.kill(killed_rank);
    const auto killed = ProcessRanks::Clock::now();
    const auto reports = ranks.join(std::chrono::seconds(20));
    const auto& report = reports[static_cast<std::size_t>(1 - killed_rank)];
    EXPECT_NE(report.text.find(fmt::format("rank {}", killed_rank)), std::string::npos) << report.text;
    EXPECT_LE(report.ended - killed, std::chrono::seconds(2)) << report.text;
  }
}

// Everything with as many devices as ranks, with half as many, and with no path between the devices.
class SeveralDevices : public testing::TestWithParam<DeviceCase> {};

TEST_P(SeveralDevices, GiveWhatTheHostGives) {
  const FakeDeviceGuard fake(GetParam().fake);
  run_ranks(
      GetParam().ranks,
      [&](int rank) {
        for (const std::int64_t count : swept_counts({0, 7, 20'000}))
          sweep_collectives(device_of(rank), count, DType::f32);
      },
      on_cuda());
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

// Without a path the host computes the sums; with one, each device adds its chunk or its own data.
TEST_P(SeveralDevices, SendThroughTheHostOnlyWithoutAPath) {
  const FakeDeviceGuard fake(GetParam().fake);
  const auto devices = static_cast<std::size_t>(GetParam().fake.count);
  run_ranks(
      GetParam().ranks,
      [&](int rank) {
        Tensor t = full({20'000}, rank, DType::f32, device_of(rank));
        all_reduce(t);
        const std::size_t sums = fake->reductions();
        const Done done = during(*fake.operator->(), [&] { all_reduce(t, ReduceOp::sum); });
        if (GetParam().fake.reaches_all) {
          EXPECT_EQ(done.host_bytes, 0U);
          EXPECT_EQ(done.launches, devices);
        } else {
          EXPECT_GE(done.host_bytes, 2 * t.nbytes() * static_cast<std::size_t>(GetParam().ranks));
          EXPECT_EQ(fake->reductions(), sums);
        }
      },
      on_cuda());
}

INSTANTIATE_TEST_SUITE_P(
    Device, SeveralDevices,
    testing::Values(DeviceCase{"two_of_two", "", 2, {.count = 2}},
                    DeviceCase{"two_of_two_apart", "", 2, {.count = 2, .reaches_all = false}},
                    DeviceCase{"eight_of_eight", "", 8, {.count = 8}},
                    DeviceCase{"eight_of_eight_apart", "", 8, {.count = 8, .reaches_all = false}},
                    DeviceCase{"four_of_two", "", 4, {.count = 2}},
                    DeviceCase{"nine_of_eight", "", 9, {.count = 8}}),
    [](const auto& test) { return test.param.label; });

}  // namespace
}  // namespace dist::test
