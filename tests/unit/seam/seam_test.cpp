// The seam: ring_all_reduce, the very same function, over shared memory, TCP, virtual ranks and a device.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/ring.h"
#include "dist/core/fail.h"
#include "dist/core/sanitizer.h"
#include "dist/core/tensor.h"
#include "dist/group/rank_context.h"
#include "dist/store/tcp_store.h"
#include "dist/transport/endpoint.h"

#include "support/device_transport.h"
#include "support/fake_device.h"
#include "support/fiber_transport.h"
#include "support/process_ranks.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

constexpr std::array rank_counts{1, 2, 3, 5, 8};
constexpr std::array<std::int64_t, 4> element_counts{0, 1, 7, 1000};

// Rank r contributes (r + 1) * (1 + i % 13) as element i: sums are small integers, exact in f32 for 257
// ranks.
double element(std::int64_t i) { return 1 + static_cast<double>(i % 13); }

// One all-reduce on this rank's part of `net`, its data on `device`. Throws at the first wrong element.
void check_ring(Transport& net, Device device, std::int64_t count, DType dtype) {
  std::vector<double> mine;
  for (std::int64_t i = 0; i < count; ++i) mine.push_back((net.rank() + 1) * element(i));
  const Tensor data = tensor(std::span<const double>(mine)).to(dtype).to(device);
  ring_all_reduce(net, data.flat(), ReduceOp::sum);
  const std::vector<double> got = data.to_vector<double>();
  const double ranks = net.size() * (net.size() + 1) / 2.0;
  for (std::int64_t i = 0; i < count; ++i)
    if (got[static_cast<std::size_t>(i)] != ranks * element(i))
      fail(Errc::internal, "rank {} of {}: element {} of {} {} is {}, not {}", net.rank(), net.size(), i,
           count, name(dtype), got[static_cast<std::size_t>(i)], ranks * element(i));
}

// All sizes on one rank; `open` gives each operation its Transport.
template <class Open>
void sweep_sizes(Device device, const Open& open) {
  for (const DType dtype : {DType::i32, DType::f32})
    for (const std::int64_t count : element_counts)
      open([&](Transport& net) { check_ring(net, device, count, dtype); });
}

// The sweep on a connected endpoint, as a group runs it: each operation has its own sequence number.
void sweep_endpoint(Store& store, int rank, int n, const std::string& transport, const std::string& link) {
  EndpointOptions options;
  options.rank = rank;
  options.world_size = n;
  options.transport = transport;
  options.deadline = Deadline::after(std::chrono::seconds(30));
  const auto endpoint = connect_endpoint(store, options);
  if (n > 1 && endpoint->link_kind((rank + 1) % n) != link)
    fail(Errc::internal, "the link is {}, not {}", endpoint->link_kind((rank + 1) % n), link);
  std::uint64_t sequence = 0;
  try {
    sweep_sizes(cpu, [&](const auto& check) {
      TransportOptions operation;
      operation.members = Members::everybody(n);
      operation.channel.tag = sequence;
      operation.label = {"ring_all_reduce", sequence++, {}, CallSite::current()};
      operation.deadline = Deadline::after(std::chrono::seconds(60));
      check(*endpoint->open(std::move(operation)));
    });
  } catch (const std::exception& error) {
    endpoint->close(error.what());
    throw;
  }
  endpoint->close("");
}

void sweep_processes(const std::string& transport, const std::string& link) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support fork() with running threads";
  for (const int n : rank_counts) {
    ProcessRanks ranks(n, [&](int rank, const auto&) {
      const auto store = make_tcp_store(rank_context().launch->store_address, "process_ranks",
                                        Deadline::after(std::chrono::seconds(30)));
      sweep_endpoint(*store, rank, n, transport, link);
      return std::string("exact");
    });
    for (const auto& report : ranks.join(std::chrono::seconds(60)))
      EXPECT_EQ(report.text, "exact") << n << " ranks";
  }
}

void sweep_threads(const std::string& transport, const std::string& link) {
  for (const int n : rank_counts)
    run_unjoined(n, [&](int rank, const std::shared_ptr<Store>& store) {
      sweep_endpoint(*store, rank, n, transport, link);
    });
}

TEST(Seam, SharedMemoryBetweenProcesses) { sweep_processes("shm", "shm"); }
TEST(Seam, TcpBetweenProcesses) { sweep_processes("tcp", "tcp"); }
TEST(Seam, SharedMemoryBetweenThreads) { sweep_threads("shm", "thread"); }
TEST(Seam, TcpBetweenThreads) { sweep_threads("tcp", "tcp"); }

void sweep_fibers(int n, Touch touch) {
  FiberOptions options;
  options.touch = touch;
  run_fibers(
      n, [](Transport& net) { sweep_sizes(cpu, [&](const auto& check) { check(net); }); }, options);
}

TEST(Seam, VirtualRanks) {
  for (const int n : rank_counts)
    for (const Touch touch : {Touch::early, Touch::late}) sweep_fibers(n, touch);
  if (!built_with_tsan) sweep_fibers(257, Touch::early);  // which takes half a minute for this many fibers
}

TEST(Seam, DeviceWithARankEach) {
  const FakeDeviceGuard device({.count = 8});
  for (const int n : rank_counts)
    run_device_ranks(
        n, [](Transport& net, Device mine) { sweep_sizes(mine, [&](const auto& check) { check(net); }); });
}

TEST(Seam, DeviceSharedByAllRanks) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const FakeDeviceGuard device({.count = 1, .longest_rest = std::chrono::microseconds(100), .seed = seed});
    for (const int n : rank_counts)
      run_device_ranks(
          n, [](Transport& net, Device mine) { sweep_sizes(mine, [&](const auto& check) { check(net); }); });
  }
}

}  // namespace
}  // namespace dist::test
