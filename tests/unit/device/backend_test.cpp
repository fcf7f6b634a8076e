// The cuda backend on the fake device: everything but CUDA itself. Ranks are threads;
// backend_processes_test.cpp runs them as processes, backend_failures_test.cpp what goes wrong.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/ranks.h"
#include "unit/device/device_case.h"
#include "unit/device/device_sweep.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

// The last one is larger than a room for f32.
const std::vector<std::int64_t> counts{0, 1, 1000, 20'000};

class DeviceBackendSweep : public testing::TestWithParam<DeviceCase> {};

TEST_P(DeviceBackendSweep, GivesWhatTheHostGives) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam().sync);
  const FakeDeviceGuard fake(GetParam().fake);
  run_ranks(
      GetParam().ranks,
      [&](int rank) {
        for (const DType dtype : swept_dtypes())
          for (const std::int64_t count : swept_counts(counts))
            sweep_collectives(device_of(rank), count, dtype);
        sweep_collectives(device_of(rank), 1000, DType::f32, {.async_op = true});
      },
      on_cuda());
  EXPECT_EQ(fake->host_pages_registered(), 0U);
  EXPECT_EQ(fake->early_waits(), 0U) << "of ranks that are threads";
}

std::vector<DeviceCase> backend_cases() {
  std::vector<DeviceCase> all;
  for (const char* sync : {"events", "flags", "host"})
    for (const int ranks : {1, 2, 3, 5}) all.push_back({"one_device", sync, ranks});
  for (const char* sync : {"events", "flags"}) {
    all.push_back({"threads_need_no_handles", sync, 2, {.exports = false}});
    all.push_back({"two_devices", sync, 3, {.count = 2}});
    all.push_back({"caching", sync, 4, {.caches = true}});
    all.push_back({"restless", sync, 2, {.longest_rest = std::chrono::microseconds(20)}});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceBackendSweep, testing::ValuesIn(backend_cases()), name_of);

class DeviceBackendTest : public testing::TestWithParam<std::string> {
 protected:
  const ScopedEnv sync{"DIST_CUDA_SYNC", GetParam()};
  FakeDeviceGuard fake;
  const Device gpu = cuda(0);
};

TEST_P(DeviceBackendTest, WorkBeforeAndAfterACallIsOrderedByTheStream) {
  const FakeDeviceGuard slow(FakeDeviceOptions{.longest_rest = std::chrono::milliseconds(2)});
  run_ranks(
      3,
      [&](int rank) {
        const Tensor factor = full({100}, 10, DType::f32, gpu);
        Tensor t = zeros({100}, DType::f32, gpu);
        for (int i = 0; i < 5; ++i) {
          t.fill_(rank + i);
          all_reduce(t);
          t.mul_(factor);
          EXPECT_EQ(sum(t), 100 * 10 * (3 + 3 * i));
        }
      },
      on_cuda());
}

// As on the CPU, an asynchronous call must not wait until the other ranks call.
TEST_P(DeviceBackendTest, AnAsynchronousCallReturnsBeforeTheOthersCall) {
  run_ranks(
      2,
      [&](int rank) {
        Tensor data = full({1000}, rank + 1, DType::f32, gpu), word = zeros({1});
        Work work;
        if (rank == 0) work = all_reduce(data, ReduceOp::sum, {.async_op = true});
        if (rank == 0) send(word, 1);
        if (rank == 1) recv(word, 0);
        if (rank == 1) work = all_reduce(data, ReduceOp::sum, {.async_op = true});
        work.wait();
        EXPECT_EQ(sum(data), 3000);
      },
      on_cuda());
}

TEST_P(DeviceBackendTest, ManyOperationsAreUnderWayAtOnce) {
  run_ranks(
      3,
      [&](int rank) {
        std::vector<Tensor> tensors;
        std::vector<Work> works;
        for (int i = 0; i < 40; ++i) {
          tensors.push_back(full({i * 100}, rank + i, DType::i32, gpu));
          works.push_back(all_reduce(tensors.back(), ReduceOp::sum, {.async_op = true}));
        }
        for (int i = 39; i >= 0; --i) {
          works[static_cast<std::size_t>(i)].wait();
          EXPECT_EQ(sum(tensors[static_cast<std::size_t>(i)]), i * 100 * (3 + 3 * i));
        }
      },
      on_cuda());
}

TEST_P(DeviceBackendTest, MessagesBarriersAndCpuTensorsMix) {
  run_ranks(
      2,
      [&](int rank) {
        const Tensor mine = full({10}, rank + 1, DType::f32, gpu);
        Tensor theirs = zeros({10}, DType::f32, gpu), here = ones({3});
        Work got = irecv(theirs, 1 - rank);
        isend(mine, 1 - rank).wait();
        got.wait();
        EXPECT_EQ(sum(theirs), 10 * (2 - rank));
        if (rank == 0) send(mine, 1);
        if (rank == 1) {
          EXPECT_EQ(recv(theirs).source_rank(), 0);
        }
        barrier();
        all_reduce(here);
        EXPECT_EQ(sum(here), 6);
      },
      on_cuda());
}

TEST_P(DeviceBackendTest, RanksThatDifferLearnIt) {
  EXPECT_DIST_ERROR(run_ranks(
                        2,
                        [&](int rank) {
                          Tensor t = zeros({rank == 0 ? 100 : 101}, DType::f32, gpu);
                          all_reduce(t);
                        },
                        on_cuda()),
                    Errc::mismatch, "bytes");
}

TEST_P(DeviceBackendTest, RanksThatNameDifferentAlgorithmsLearnIt) {
  EXPECT_DIST_ERROR(run_ranks(
                        2,
                        [&](int rank) {
                          Tensor t = zeros({100}, DType::f32, gpu);
                          all_reduce(t, ReduceOp::sum, {.algorithm = rank == 0 ? "one_shot" : "two_shot"});
                        },
                        on_cuda()),
                    Errc::mismatch, "runs it with another algorithm");
}

TEST_P(DeviceBackendTest, OneShotRoundsAreAsLongAsARoom) {
  run_ranks(
      2,
      [&](int) {
        for (const auto& [count, rounds] : {std::pair{16'384, 1U}, std::pair{20'000, 2U}}) {
          Tensor t = ones({count}, DType::f32, gpu);
          barrier();
          const std::size_t before = fake->reductions();
          barrier();
          all_reduce(t, ReduceOp::sum, {.algorithm = "one_shot"});
          EXPECT_EQ(sum(t), 2.0 * count);
          barrier();
          EXPECT_EQ(fake->reductions() - before, 2 * rounds) << count;
        }
      },
      on_cuda());
}

// One launch for any number of ranks, because their kernels would take turns.
TEST_P(DeviceBackendTest, OneRankOfEachDeviceSumsForAll) {
  for (const int devices : {1, 2, 4}) {
    const FakeDeviceGuard shared(FakeDeviceOptions{.count = devices});
    run_ranks(
        4,
        [&](int rank) {
          for (const std::int64_t count : {1, 20'000}) {
            Tensor t = full({count}, rank, DType::f32, device_of(rank));
            barrier();
            const std::size_t before = shared->reductions();
            barrier();
            all_reduce(t, ReduceOp::sum, {.algorithm = "two_shot"});
            EXPECT_EQ(sum(t), 6.0 * static_cast<double>(count));
            barrier();
            EXPECT_EQ(shared->reductions() - before, count == 1 ? 1U : static_cast<unsigned>(devices))
                << devices << " devices";
          }
        },
        on_cuda());
  }
}

// Calls one collective after another on sizes that differ between ranks; returns what each is called and how
// many kernels and copies it took on all ranks together.
std::vector<std::pair<std::string, std::size_t>> launches_of_each(FakeDevice& fake, int rank, int n,
                                                                  std::int64_t unit) {
  const Device gpu = device_of(rank);
  const int root = n - 1;
  const auto list_of = [&](const auto& count, double value) {
    std::vector<Tensor> list;
    for (int r = 0; r < n; ++r) list.push_back(full({count(r)}, value, DType::f32, gpu));
    return list;
  };
  const auto uneven = [&](int r) { return unit * (r % 3); };
  std::vector<std::pair<std::string, std::size_t>> all;
  const auto measure = [&](const char* name, const auto& call) {
    barrier();
    const std::size_t before = fake.launches();
    barrier();
    call();
    barrier();
    all.emplace_back(name, fake.launches() - before);
    barrier();
  };
  const double mine = rank + 1;
  std::vector<Tensor> none;
  auto gathered = list_of(uneven, 0), at_root = list_of(uneven, 0), received = list_of(uneven, 0);
  const auto parts = list_of(uneven, mine);
  const auto equal_parts = list_of([&](int) { return unit; }, mine);
  const auto sent = list_of([&](int) { return uneven(rank); }, mine);
  const Tensor own = full({uneven(rank)}, mine, DType::f32, gpu), even = full({unit}, mine, DType::f32, gpu);
  Tensor reduced = even.clone(), copied = even.clone(), scattered = own.clone(), summed = own.clone();
  measure("all_gather", [&] { all_gather(gathered, own); });
  measure("gather", [&] { gather(own, rank == root ? at_root : none, root); });
  measure("scatter", [&] { scatter(scattered, rank == root ? parts : none, root); });
  measure("reduce_scatter", [&] { reduce_scatter(summed, parts); });
  measure("all_to_all", [&] { all_to_all(received, sent); });
  measure("broadcast", [&] { broadcast(copied, root); });
  measure("reduce", [&] { reduce(reduced, root); });
  const double total = n * (n + 1) / 2.0;
  for (int r = 0; r < n; ++r) {
    const auto i = static_cast<std::size_t>(r);
    EXPECT_EQ(sum(gathered[i]), (r + 1.0) * static_cast<double>(uneven(r)));
    EXPECT_EQ(sum(received[i]), (r + 1.0) * static_cast<double>(uneven(r)));
    EXPECT_EQ(sum(at_root[i]), rank == root ? (r + 1.0) * static_cast<double>(uneven(r)) : 0);
  }
  EXPECT_EQ(sum(scattered), (root + 1.0) * static_cast<double>(uneven(rank)));
  EXPECT_EQ(sum(summed), total * static_cast<double>(uneven(rank)));
  EXPECT_EQ(sum(copied), (root + 1.0) * static_cast<double>(unit));
  EXPECT_EQ(sum(reduced), (rank == root ? total : mine) * static_cast<double>(unit));
  return all;
}

// One of the ranks that share a device launches once for all of them, and the others launch nothing.
TEST_P(DeviceBackendTest, OneLaunchServesAllRanksOfADevice) {
  for (const std::size_t devices : {1U, 2U})
    for (const std::int64_t unit : {0, 1, 7, 20'000}) {
      const FakeDeviceGuard shared(FakeDeviceOptions{.count = static_cast<int>(devices)});
      run_ranks(
          5,
          [&](int rank) {
            for (const auto& [name, launches] : launches_of_each(*shared.operator->(), rank, 5, unit)) {
              const bool only_to_root = name == "gather";
              const bool in_shares = name == "broadcast" || name == "reduce";  // of whole cache lines
              const std::size_t expected = only_to_root || (in_shares && unit < 16) ? 1 : devices;
              EXPECT_EQ(launches, unit == 0 ? 0 : expected) << name << " of " << unit << " on " << devices;
            }
          },
          on_cuda());
    }
}

// A rank that only learns that another one has given up gets an error that says so; at least one rank says
// what differs.
TEST_P(DeviceBackendTest, RanksThatDifferLearnItFromEveryCollective) {
  using Collective = std::function<void(std::int64_t count)>;
  const auto one = [](std::int64_t count) { return zeros({count}, DType::f32, cuda(0)); };
  const auto list_of = [&](std::int64_t count) { return std::vector{one(count), one(count), one(count)}; };
  const std::vector<Collective> all{[&](std::int64_t count) {
                                      auto outs = list_of(count);
                                      all_gather(outs, one(count));
                                    },
                                    [&](std::int64_t count) {
                                      Tensor out = one(count);
                                      reduce_scatter(out, list_of(count));
                                    },
                                    [&](std::int64_t count) {
                                      auto outs = list_of(count);
                                      all_to_all(outs, list_of(count));
                                    },
                                    [&](std::int64_t count) {
                                      auto outs = get_rank() == 2 ? list_of(100) : std::vector<Tensor>{};
                                      gather(one(count), outs, 2);
                                    },
                                    [&](std::int64_t count) {
                                      Tensor out = one(count);
                                      scatter(out, get_rank() == 2 ? list_of(100) : std::vector<Tensor>{}, 2);
                                    }};
  for (const int different : {0, 1})
    for (std::size_t i = 0; i < all.size(); ++i) {
      const FakeDeviceGuard shared;
      std::atomic<int> mismatches = 0;
      run_ranks(
          3,
          [&](int rank) {
            try {
              all[i](rank == different ? 101 : 100);
              device_api(DeviceType::cuda).synchronize(cuda(0), current_stream(cuda(0)));
            } catch (const Error& error) {
              const std::string text = error.what();
              if (error.code() == Errc::mismatch && text.find("bytes") != std::string::npos) ++mismatches;
            }
          },
          on_cuda());
      EXPECT_GE(mismatches, 1) << "collective " << i << ", rank " << different << " differs";
    }
}

// Memory that other ranks cannot map is copied to memory that they can map.
TEST_P(DeviceBackendTest, ForeignMemoryOfAnySizeIsReduced) {
  for (const int devices : {1, 2})
    for (const int ranks : {1, 2, 3}) {
      const FakeDeviceGuard foreign(FakeDeviceOptions{.count = devices});
      run_ranks(
          ranks,
          [&](int rank) {
            const Device mine = device_of(rank);
            for (const std::int64_t count : {1, 1000, 20'000}) {
              const Tensor owner = full({count}, rank + 1, DType::f32, mine);
              foreign->make_foreign(owner.raw());
              Tensor t = Tensor::from_blob(owner.raw(), {count}, DType::f32, mine);
              all_reduce(t);
              broadcast(t, 0);
              std::vector<Tensor> places;
              for (int r = 0; r < ranks; ++r)
                places.push_back(r == 0 && rank == 0 ? t : zeros({count}, DType::f32, mine));
              all_gather(places, t);
              EXPECT_TRUE(equal(places.back().clone(), t.clone()));
              EXPECT_EQ(sum(t.clone()), static_cast<double>(count * ranks * (ranks + 1) / 2))
                  << count << " by " << ranks << " on " << devices;
            }
          },
          on_cuda());
    }
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceBackendTest, testing::Values("events", "flags", "host"),
                         [](const auto& test) { return test.param; });

TEST(DeviceBackend, AGroupWorksOnOneDeviceARank) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = zeros({3}, DType::f32, cuda(rank)), elsewhere = zeros({3}, DType::f32, cuda(1 - rank));
        all_reduce(t);
        EXPECT_DIST_ERROR(all_reduce(elsewhere), Errc::invalid_argument, "one device per rank");
      },
      on_cuda());
}

TEST(DeviceBackend, ACallOnAnotherDeviceLeavesTheGroupAsItWas) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  const auto begin = std::chrono::steady_clock::now();
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({3}, 1, DType::f32, cuda(0)), elsewhere = zeros({3}, DType::f32, cuda(1));
        all_reduce(t);
        if (rank == 1) {
          EXPECT_DIST_ERROR(all_reduce(elsewhere), Errc::invalid_argument, "one device per rank");
          EXPECT_DIST_ERROR(all_reduce(elsewhere, {.async_op = true}), Errc::invalid_argument,
                            "one device per rank");
        }
        all_reduce(t);
        EXPECT_EQ(sum(t), 12);
      },
      on_cuda());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "waited for a refused call";
}

// The device has room for what one of the ranks brings along, not for two.
TEST(DeviceBackend, ARankThatCannotTakePartTellsTheOthers) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.bytes = std::size_t{3} << 19});
  RankOptions options = on_cuda();
  options.init.timeout = std::chrono::seconds(30);
  run_ranks(
      2,
      [&](int rank) {
        for (int i = 0; i < 3; ++i) {
          Tensor t = full({1000}, rank + i, DType::f32, cuda(0));
          all_reduce(t);
          EXPECT_EQ(sum(t), 1000 * (1 + 2 * i));
        }
      },
      options);
}

// The root runs ahead of a rank whose stream is stuck: what it publishes must not be overwritten before it
// was read.
TEST(DeviceBackend, ARoomIsUsedAgainOnlyWhenItWasRead) {
  for (const char* sync_by : {"events", "flags"}) {
    const ScopedEnv sync("DIST_CUDA_SYNC", sync_by);
    const FakeDeviceGuard fake;
    run_ranks(
        2,
        [&](int rank) {
          const Device gpu = cuda(0);
          const Stream own(gpu);
          const StreamGuard guard(gpu, own.handle());
          std::vector<Tensor> tensors;
          for (int i = 0; i < 40; ++i) tensors.push_back(full({10}, rank == 0 ? i : -1, DType::f32, gpu));
          broadcast(tensors[0], 0);
          own.synchronize();
          if (rank == 1) fake->hold(gpu, own.handle(), true);
          for (Tensor& t : tensors) broadcast(t, 0);
          dist::sleep(std::chrono::milliseconds(50));
          fake->hold(gpu, own.handle(), false);
          for (int i = 0; i < 40; ++i)
            EXPECT_EQ(sum(tensors[static_cast<std::size_t>(i)]), 10 * i) << sync_by;
        },
        on_cuda());
  }
}

}  // namespace
}  // namespace dist::test
