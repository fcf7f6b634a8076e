// When a rank leaves with an error, the others are notified, as on real ranks, and that is not a finding.
#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/group/rank_context.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

sim::Report run(int n, const std::function<void(int)>& fn) {
  sim::RunOptions options;
  options.ranks = n;
  return sim::run(options, fn);
}

TEST(GivingUp, BeforeItJoins) {
  const auto report = run(3, [](int rank) {
    if (rank == 1) throw std::runtime_error("no data");
    init_process_group();
  });
  EXPECT_TRUE(report.findings.empty()) << report.text();
  ASSERT_EQ(report.failures.size(), 3u);
  EXPECT_EQ(report.failures[0].what, "rank 1: no data");
  for (const int other : {1, 2})
    EXPECT_NE(report.failures[static_cast<std::size_t>(other)].what.find("rank 1 gave up: no data"),
              std::string::npos);
  EXPECT_EQ(report.virtual_time_s, 0) << "they did not wait for their timeout";
}

// Rank 0 goes on after the error and leaves in order; rank 2, which waits for rank 0 alone, is notified of
// rank 1.
TEST(GivingUp, IsToldToThoseWhoWaitForAThirdRank) {
  const auto report = run(3, [](int rank) {
    init_process_group();
    Tensor t = zeros({1});
    if (rank == 1) throw std::runtime_error("no data");
    expect_error(Errc::peer_failed, {"rank 1 gave up: no data"}, [&] { recv(t, rank == 0 ? 1 : 0); });
    expect_error(Errc::peer_failed, {"rank 1 gave up: no data"}, [&] { new_group({0, 2}); });
  });
  EXPECT_TRUE(report.findings.empty()) << report.text();
  EXPECT_EQ(report.failures.size(), 1u) << report.text();
}

TEST(GivingUp, OtherGroupsGoOn) {
  const auto report = run(4, [](int rank) {
    init_process_group();
    const ProcessGroup pair = new_group({0, 2});
    Tensor t = ones({1});
    if (rank == 3) throw std::runtime_error("no data");
    if (rank == 2) dist::sleep(std::chrono::milliseconds(1));  // rank 0 waits meanwhile
    if (pair.is_member()) {
      all_reduce(t, ReduceOp::sum, {.group = pair});
      EXPECT_EQ(t.item<int>(), 2);
    }
  });
  EXPECT_TRUE(report.findings.empty()) << report.text();
  EXPECT_EQ(report.failures.size(), 1u) << report.text();
}

TEST(GivingUp, AllMayJoinAgain) {
  const auto report = run(3, [](int rank) {
    init_process_group();
    Tensor t = ones({1});
    if (rank == 1)
      leave_job(rank_context(), "something broke");
    else
      expect_error(Errc::peer_failed, {"rank 1 gave up: something broke"}, [&] { all_reduce(t); });
    if (rank != 1) destroy_process_group();
    init_process_group();
    Tensor fresh = ones({1});
    all_reduce(fresh);
    EXPECT_EQ(fresh.item<int>(), 3);
  });
  EXPECT_EQ(report.text(), "");
}

}  // namespace
}  // namespace dist::test
