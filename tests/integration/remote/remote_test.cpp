// Ranks that are processes give the same as fibers, in every figure.
#include <chrono>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "dist/data/data_loader.h"
#include "dist/data/digits.h"
#include "dist/dist.h"

#include "support/forked_ranks.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

sim::RunOptions ranks(int n) {
  sim::RunOptions options;
  options.ranks = n;
  return options;
}

// Runs it both ways, and returns the report of the processes.
sim::Report expect_the_same(const sim::RunOptions& options, const std::function<void(int)>& rank_main) {
  const auto fibers = sim::run(options, rank_main);
  auto processes = simulate_forked(options, rank_main);
  EXPECT_EQ(processes.text(), fibers.text());
  EXPECT_EQ(processes.virtual_time_s, fibers.virtual_time_s);
  EXPECT_EQ(processes.messages, fibers.messages);
  EXPECT_EQ(processes.peak_buffer_bytes, fibers.peak_buffer_bytes);
  for (std::size_t rank = 0; rank < fibers.traffic.size(); ++rank) {
    EXPECT_EQ(processes.traffic[rank].bytes_sent, fibers.traffic[rank].bytes_sent) << rank;
    EXPECT_EQ(processes.traffic[rank].messages_received, fibers.traffic[rank].messages_received) << rank;
  }
  return processes;
}

void require(bool is_so, const char* what) {
  if (!is_so) throw std::runtime_error(what);
}

class Algorithms : public testing::TestWithParam<std::tuple<int, const char*, int>> {};

TEST_P(Algorithms, AllReduce) {
  const auto [n, algorithm, count] = GetParam();
  const auto report = expect_the_same(ranks(n), [&](int rank) {
    init_process_group();
    Tensor data = full({count}, rank + 1.0f);
    all_reduce(data, ReduceOp::sum, {.algorithm = algorithm});
    for (const float x : data.data<float>()) require(x == static_cast<float>(n * (n + 1) / 2), "a wrong sum");
  });
  EXPECT_TRUE(report.ok()) << report.text();
}

INSTANTIATE_TEST_SUITE_P(Sweep, Algorithms,
                         testing::Combine(testing::Values(1, 2, 3, 5, 9), testing::Values("ring", "tree"),
                                          testing::Values(0, 1, 7, 100'000)));

// Two parts of a tensor in one page of memory, which is protected for one of them while the other is used.
TEST(Remote, PartsOfOneTensorInFlight) {
  const auto report = expect_the_same(ranks(3), [](int rank) {
    init_process_group();
    Tensor data = full({12}, static_cast<float>(rank));
    std::vector<Tensor> parts = data.chunk(3);
    const int next = (rank + 1) % 3, last = (rank + 2) % 3;
    Work put = isend(parts[0], next);
    recv(parts[1], last);  // into a page that may be read only
    Work get = irecv(parts[2], last);
    Work late_put = isend(parts[1], next);  // from a page that may not be touched
    for (Work* work : {&put, &get, &late_put}) work->wait();
    require(parts[1].data<float>()[3] == static_cast<float>(last), "a wrong number");
    require(parts[2].data<float>()[0] == static_cast<float>(next), "a wrong number of the one before");
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(Remote, GroupsMessagesAndWorksInFlight) {
  const auto report = expect_the_same(ranks(4), [](int rank) {
    init_process_group();
    const ProcessGroup half = split_group(rank % 2, rank);
    Tensor a = full({1000}, 1.0f), b = full({10}, static_cast<float>(rank)), c = b.clone();
    Work sum = all_reduce(a, ReduceOp::sum, {.async_op = true});
    Work pair = all_reduce(b, ReduceOp::max, {.group = half, .async_op = true});
    Work put = isend(c, (rank + 1) % 4);
    Tensor got = zeros({10});
    Work get = irecv(got, (rank + 3) % 4);
    sim::compute(1e-3);
    for (Work* work : {&get, &put, &pair, &sum}) work->wait();
    require(a.data<float>()[999] == 4, "a wrong sum");
    require(b.data<float>()[0] == static_cast<float>(rank % 2 + 2), "a wrong maximum");
    require(got.data<float>()[9] == static_cast<float>((rank + 3) % 4), "a wrong message");
    barrier();
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_GT(report.virtual_time_s, 1e-3);
}

TEST(Remote, TimeIsVirtual) {
  const auto begin = std::chrono::steady_clock::now();
  const auto report = expect_the_same(ranks(2), [](int rank) {
    init_process_group();
    if (rank == 0) dist::sleep(20min);
    barrier();
  });
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_GT(report.virtual_time_s, 1200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Remote, ATimeoutIsVirtualToo) {
  const auto report = expect_the_same(ranks(2), [](int rank) {
    init_process_group();
    Tensor t = zeros({4});
    if (rank == 1) dist::sleep(1h);
    if (rank == 0) recv(t, 1, {.timeout = 10min});
  });
  ASSERT_FALSE(report.failures.empty());
  EXPECT_NE(report.failures[0].what.find("in 600 s"), std::string::npos) << report.text();
}

TEST(Remote, AnErrorOfOneIsHeardByAll) {
  const auto report = expect_the_same(ranks(3), [](int rank) {
    init_process_group();
    if (rank == 1) throw std::runtime_error("the disk is full");
    Tensor t = zeros({4});
    all_reduce(t);
  });
  ASSERT_EQ(report.failures.size(), 3u);
  EXPECT_EQ(report.failures[0].what, "rank 1: the disk is full");
}

TEST(Remote, ALoaderOfTooManyWorkersIsRefused) {
  const auto report = simulate_forked(ranks(2), [](int) {
    const data::Digits digits(1000);
    std::string said;
    try {
      const data::DataLoader loader(digits, {.batch_size = 1, .workers = 300});
      loader.begin();
    } catch (const Error& error) {
      said = error.what();
    }
    require(!said.empty(), "300 workers were taken");
    init_process_group();
    barrier();
  });
  EXPECT_TRUE(report.ok()) << report.text();
}

// Links within a node and between nodes differ: a process knows who shares its node.
TEST(Remote, NodesAreTheTopologys) {
  auto options = ranks(16);
  options.topology = "dgx-a100-hdr";
  const auto report = expect_the_same(options, [](int) {
    init_process_group();
    Tensor t = ones({1 << 16});
    all_reduce(t, ReduceOp::sum, {.algorithm = "hierarchical"});
    require(t.data<float>()[0] == 16, "a wrong sum");
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(Remote, SeedsReachTheSameSchedules) {
  auto options = ranks(3);
  for (const char* seed : {"1", "2", "17"}) {
    options.seed = seed;
    expect_the_same(options, [](int rank) {
      init_process_group();
      Tensor t = full({1}, static_cast<float>(rank));
      if (rank > 0) return send(t, 0), void();
      for (int i = 0; i < 2; ++i) recv(t);
    });
  }
}

TEST(Remote, ALargeMessageArrivesWhole) {
  const auto report = expect_the_same(ranks(2), [](int rank) {
    init_process_group();
    const std::int64_t count = 16 << 20;
    Tensor t = full({count}, rank == 0 ? 2.5f : 0.0f);
    broadcast(t, 0);
    for (const float x : t.data<float>()) require(x == 2.5f, "a wrong element");
  });
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(Remote, AnotherThreadIsToldThatItIsNone) {
  const auto report = simulate_forked(ranks(1), [](int) {
    init_process_group();
    std::string said;
    std::thread([&] {
      try {
        Tensor t = zeros({1});
        all_reduce(t);
      } catch (const std::exception& error) {
        said = error.what();
      }
    }).join();
    require(said.find("a thread that a simulated rank made is not part") != said.npos, said.c_str());
  });
  EXPECT_TRUE(report.failures.empty()) << report.text();
}

}  // namespace
}  // namespace dist::test
