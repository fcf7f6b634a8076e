// sim::run: whole programs on virtual ranks.
#include <gtest/gtest.h>

#include "dist/dist.h"

namespace dist::test {
namespace {

sim::Report run(int n, const std::function<void(int)>& fn, const std::string& topology = "laptop") {
  sim::RunOptions options;
  options.ranks = n;
  options.topology = topology;
  return sim::run(options, fn);
}

class SimRun : public testing::TestWithParam<int> {};

TEST_P(SimRun, CollectivesGiveWhatTheyGiveElsewhere) {
  const int n = GetParam();
  const auto report = run(n, [n](int rank) {
    init_process_group({.backend = "host"});  // runs as "sim", whatever it names
    EXPECT_EQ(get_backend(), "sim");
    EXPECT_EQ(get_rank(), rank);
    for (const char* algorithm : {"ring", "tree", "recursive_doubling"}) {
      Tensor t = full({33}, rank + 1, DType::f32);
      all_reduce(t, ReduceOp::sum, {.algorithm = algorithm});
      EXPECT_TRUE(equal(t, full({33}, n * (n + 1) / 2))) << algorithm << " on rank " << rank;
    }
    Tensor b = full({5}, rank);
    broadcast(b, n - 1);
    EXPECT_TRUE(equal(b, full({5}, n - 1)));
    std::vector<Tensor> list;
    for (int i = 0; i < n; ++i) list.push_back(zeros({2}));
    all_gather(list, full({2}, rank));
    for (int i = 0; i < n; ++i) EXPECT_TRUE(equal(list[static_cast<std::size_t>(i)], full({2}, i)));
    barrier();
    monitored_barrier(std::chrono::seconds(1));
    EXPECT_EQ(all_gather_object(std::to_string(rank)).back(), std::to_string(n - 1));
    destroy_process_group();
  });
  EXPECT_EQ(report.text(), "");
  EXPECT_EQ(report.virtual_time_s > 0, n > 1);
}

TEST_P(SimRun, AsynchronousWorkAndGroups) {
  const int n = GetParam();
  const auto report = run(n, [n](int rank) {
    init_process_group();
    ProcessGroup half = split_group(rank % 2, -rank);
    Tensor t = full({4}, 1), u = full({4}, 2);
    Work a = all_reduce(t, ReduceOp::sum, {.group = half, .async_op = true});
    Work b = all_reduce(u, ReduceOp::sum, {.async_op = true});
    Tensor in = zeros({3});
    const Tensor out = full({3}, rank);
    Work put = isend(out, (rank + 1) % n), got = irecv(in, (rank + n - 1) % n);
    sim::compute(0.001);
    while (!got.is_completed()) {
    }
    put.wait();
    b.wait();
    a.wait(std::chrono::seconds(1));
    EXPECT_EQ(t.to_vector<int>()[0], half.size());
    EXPECT_EQ(u.to_vector<int>()[0], 2 * n);
    EXPECT_EQ(in.to_vector<int>()[0], (rank + n - 1) % n);
    destroy_process_group();
    init_process_group();  // again
    barrier();
  });
  EXPECT_EQ(report.text(), "");
  EXPECT_GE(report.virtual_time_s, 0.001);
}

INSTANTIATE_TEST_SUITE_P(Ranks, SimRun, testing::Values(1, 2, 3, 5, 8, 33),
                         testing::PrintToStringParamName());

TEST(SimReport, CountsWhatWasSentAndHeld) {
  const auto report = run(4, [](int) {
    init_process_group();
    Tensor t = zeros({1000});
    all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
  });
  EXPECT_EQ(report.messages, 4u * 6);
  EXPECT_EQ(report.max_bytes_sent(), 6000u);
  EXPECT_EQ(report.max_peak_buffer_bytes(), 5000u);  // the tensor and one chunk
}

TEST(SimReport, CountsWhatEachLinkCarried) {
  sim::RunOptions options;
  options.ranks = 3;
  const auto ring = [](int) {
    init_process_group();
    Tensor t = zeros({300});
    all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
  };
  const auto report = sim::run(options, ring);
  ASSERT_EQ(report.links.size(), 3u);  // 0 -> 1, 1 -> 2, 2 -> 0
  for (int i = 0; i < 3; ++i) {
    const auto& link = report.links[static_cast<std::size_t>(i)];
    EXPECT_EQ(link.src, i);
    EXPECT_EQ(link.dst, (i + 1) % 3);
    EXPECT_EQ(link.messages, 4u);
    EXPECT_EQ(link.bytes, 1600u);
  }
  options.ranks = 65;
  EXPECT_TRUE(sim::run(options, ring).links.empty()) << "not asked for";
  options.links = true;
  EXPECT_EQ(sim::run(options, ring).links.size(), 65u);
}

TEST(SimReport, SleepAndTimeoutsAreVirtual) {
  const auto report = run(2, [](int rank) {
    init_process_group();
    Tensor t = zeros({1});
    if (rank == 1) {
      sleep(std::chrono::minutes(20));
      send(t, 0);
      return;
    }
    Work work = irecv(t, 1);
    EXPECT_THROW(work.wait(std::chrono::minutes(5)), Error);
    work.wait();
  });
  EXPECT_EQ(report.text(), "");
  EXPECT_NEAR(report.virtual_time_s, 1200, 1);
}

TEST(SimReport, GroupsOfGroupsDoNotMeet) {
  const auto report = run(6, [](int rank) {
    init_process_group();
    const ProcessGroup outer = split_group(rank % 3 == 0 ? 0 : 1);  // of two and of four ranks
    const ProcessGroup inner = split_group(outer.rank() / 2, 0, {.parent = outer});
    EXPECT_EQ(inner.size(), 2);
    Tensor t = ones({1});
    all_reduce(t, ReduceOp::sum, {.group = inner});
    EXPECT_EQ(t.item<int>(), 2);
  });
  EXPECT_EQ(report.text(), "");
}

TEST(SimReport, ManyRanks) {
  const auto report = run(
      4096,
      [](int) {
        init_process_group();
        Tensor t = ones({1});
        all_reduce(t, ReduceOp::sum, {.algorithm = "tree"});
        EXPECT_EQ(t.item<int>(), 4096);
      },
      "summit");
  EXPECT_EQ(report.text(), "");
  EXPECT_EQ(report.messages, 2u * 4095);
}

}  // namespace
}  // namespace dist::test
