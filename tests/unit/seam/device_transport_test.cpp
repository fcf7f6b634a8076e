// The transport between ranks on a device: what is stream-ordered, and what its errors say.
#include "support/device_transport.h"

#include <atomic>
#include <barrier>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/ring.h"
#include "dist/core/fail.h"
#include "dist/core/sanitizer.h"
#include "dist/core/tensor.h"

#include "support/expect_error.h"
#include "support/fake_device.h"

namespace dist::test {
namespace {

constexpr int all_ranks = 4;
constexpr std::int64_t elements = 1000;

// Every stream is held: whatever runs to its end then only enqueued. So the algorithm never makes the host
// wait for data, and everything it needs to wait for is in the streams.
TEST(DeviceTransport, ARingIsEnqueuedWholeWhileNoStreamMoves) {
  const FakeDeviceGuard device({.count = 2});
  std::barrier everybody(all_ranks);
  run_device_ranks(all_ranks, [&](Transport& net, Device mine) {
    const Tensor data = full({elements}, net.rank() + 1, DType::i32, mine);
    device->synchronize(mine, current_stream(mine));
    everybody.arrive_and_wait();
    if (net.rank() == 0) device->hold_all(true);
    everybody.arrive_and_wait();
    ring_all_reduce(net, data.flat(), ReduceOp::sum);
    everybody.arrive_and_wait();
    if (net.rank() == 0) {
      EXPECT_GT(device->backlog(), static_cast<std::size_t>(2 * (all_ranks - 1) * all_ranks));
      device->hold_all(false);
    }
    for (const int element : data.to_vector<int>()) ASSERT_EQ(element, 1 + 2 + 3 + 4);
  });
}

// The same with a wait() that does not make the stream wait: the fake device detects it.
TEST(DeviceTransport, AForgottenWaitGivesWrongSums) {
  if (built_with_tsan) GTEST_SKIP() << "the missing wait is a data race, which ThreadSanitizer reports";
  const FakeDeviceGuard device({.count = 1, .longest_rest = std::chrono::milliseconds(1)});
  std::atomic<int> wrong{0};
  run_device_ranks(all_ranks,
                   [&](Transport& net, Device mine) {
                     const Tensor data = full({elements}, net.rank() + 1, DType::i32, mine);
                     ring_all_reduce(net, data.flat(), ReduceOp::sum);
                     for (const int element : data.to_vector<int>()) wrong += element != 1 + 2 + 3 + 4;
                     device->synchronize(mine, nullptr);
                   },
                   {.wait_for_copies = false});
  EXPECT_GT(wrong, 0);
}

// Scratch that was freed serves the next operation of the same stream, without the host waiting in between.
TEST(DeviceTransport, ScratchIsUsedAgainInStreamOrder) {
  const FakeDeviceGuard device({.count = 1, .longest_rest = std::chrono::microseconds(200)});
  constexpr std::size_t data_bytes = 4032, chunk_bytes = 1344;  // 1000 and 334 elements, in units of 64 bytes
  std::barrier everybody(3);
  run_device_ranks(3, [&](Transport& net, Device mine) {
    const Tensor data = full({elements}, 1, DType::i32, mine);
    for (int i = 0; i < 5; ++i) ring_all_reduce(net, data.flat(), ReduceOp::sum);
    everybody.arrive_and_wait();
    EXPECT_EQ(device->in_use(mine), 3 * (data_bytes + chunk_bytes));
    everybody.arrive_and_wait();
    for (const int element : data.to_vector<int>()) ASSERT_EQ(element, 3 * 3 * 3 * 3 * 3);
  });
  device->synchronize(cuda(0), nullptr);
  EXPECT_EQ(device->in_use(cuda(0)), 0U);
  EXPECT_EQ(device->handles_alive(), 0U);
}

TEST(DeviceTransport, ARankSendsToItself) {
  const FakeDeviceGuard device;
  run_device_ranks(2, [&](Transport& net, Device mine) {
    const Tensor from = full({7}, net.rank(), DType::f32, mine), to = zeros({7}, DType::f32, mine);
    send_recv(net, from.flat(), net.rank(), to.flat(), net.rank());
    EXPECT_TRUE(equal(from, to));
  });
}

TEST(DeviceTransport, MessagesArriveInTheOrderTheyWereSent) {
  const FakeDeviceGuard device({.count = 2, .longest_rest = std::chrono::microseconds(100)});
  run_device_ranks(2, [&](Transport& net, Device mine) {
    std::vector<Tensor> tensors;
    std::vector<Request> requests;
    for (int i = 0; i < 10; ++i) {
      tensors.push_back(full({5}, net.rank() == 0 ? i : -1, DType::i32, mine));
      requests.push_back(net.rank() == 0 ? net.isend(tensors.back().flat(), 1)
                                         : net.irecv(tensors.back().flat(), 0));
    }
    for (int i = 9; i >= 0; --i) requests[static_cast<std::size_t>(i)].wait();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(tensors[static_cast<std::size_t>(i)][0].item<int>(), i);
  });
}

TEST(DeviceTransport, ErrorsNameRanksAndSizes) {
  const FakeDeviceGuard device({.count = 2});
  const auto exchange = [](std::int64_t sent, std::int64_t expected) {
    run_device_ranks(2, [=](Transport& net, Device mine) {
      const Tensor t = zeros({net.rank() == 0 ? sent : expected}, DType::f32, mine);
      (net.rank() == 0 ? net.isend(t.flat(), 1) : net.irecv(t.flat(), 0)).wait();
    });
  };
  exchange(3, 3);
  EXPECT_DIST_ERROR(exchange(3, 4), Errc::mismatch, "rank 0 sent 3 f32 to rank 1, which expected 4 f32");
  const auto absent = [](Transport& net, Device mine) {
    const Tensor t = zeros({1}, DType::f32, mine);
    if (net.rank() == 0) net.irecv(t.flat(), 1).wait();
  };
  EXPECT_DIST_ERROR(run_device_ranks(2, absent, {.timeout = std::chrono::milliseconds(50)}), Errc::timeout,
                    "rank 0 waited for rank 1, which has not called");
  const auto fails = [](Transport& net, Device mine) {
    const Tensor t = zeros({1}, DType::f32, mine);
    if (net.rank() == 1) fail(Errc::internal, "on purpose");
    net.irecv(t.flat(), 1).wait();
  };
  EXPECT_DIST_ERROR(run_device_ranks(2, fails), Errc::internal, "on purpose");
  EXPECT_DIST_ERROR(run_device_ranks(2,
                                     [](Transport& net, Device) {
                                       const Tensor t = zeros({1});
                                       net.isend(t.flat(), net.rank()).wait();
                                     }),
                    Errc::invalid_argument, "its message on cpu");
}

}  // namespace
}  // namespace dist::test
