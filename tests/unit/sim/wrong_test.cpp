// What is reported about wrong programs, and that nothing is reported about their correct twins.
#include <thread>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/sim/end_process.h"

namespace dist::test {
namespace {

using check::Code;

sim::Report run(int n, const std::function<void(int)>& fn) {
  sim::RunOptions options;
  options.ranks = n;
  return sim::run(options, [&](int rank) {
    init_process_group();
    fn(rank);
  });
}

// One finding of this code that quotes these words.
void expect_finding(const sim::Report& report, Code code, const std::vector<std::string>& words) {
  ASSERT_EQ(report.findings.size(), 1u) << report.text();
  EXPECT_EQ(report.findings[0].code, code) << report.text();
  const std::string text = report.findings[0].text();
  for (const auto& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
}

std::string here(int line) { return "wrong_test.cpp:" + std::to_string(line); }

TEST(D1, EverybodySendsFirst) {
  int line = 0;
  const auto report = run(2, [&](int rank) {
    Tensor out = ones({4}), in = zeros({4});
    line = __LINE__ + 1;
    send(out, 1 - rank);
    recv(in, 1 - rank);
  });
  expect_finding(report, Code::deadlock,
                 {"cycle: rank 0 -> rank 1 -> rank 0", "send #0 (4 f32)", here(line), "fix:"});
  EXPECT_LT(report.wall_s, 0.1);
}

TEST(D1, AReceiveFromARankThatHasEnded) {
  const auto report = run(2, [&](int rank) {
    Tensor in = zeros({1});
    if (rank == 0) recv(in, 1);
  });
  expect_finding(report, Code::deadlock, {"rank 1 ended already", "recv (4 bytes from rank 1)"});
}

TEST(D1, ACollectiveThatOneRankLeavesOut) {
  const auto report = run(3, [&](int rank) {
    Tensor t = ones({1});
    if (rank != 2) all_reduce(t);
    Tensor in = zeros({1});
    if (rank == 2) recv(in, 0);
  });
  expect_finding(report, Code::deadlock, {"cycle: ", "all_reduce", "recv #0 (1 f32)"});
}

TEST(D1, AGroupThatOneRankDoesNotMake) {
  const auto report = run(3, [&](int rank) {
    if (rank != 1)
      new_group({0, 2});
    else
      barrier();
  });
  expect_finding(report, Code::deadlock, {"new_group({0, 2}", "barrier"});
}

TEST(D1, CollectivesOfTwoGroupsInOppositeOrders) {
  const auto report = run(3, [&](int rank) {
    const ProcessGroup two = new_group({0, 1});
    Tensor t = ones({1});
    if (rank == 1) all_reduce(t, {.group = two});
    all_reduce(t);
    if (rank == 0) all_reduce(t, {.group = two});
  });
  expect_finding(report, Code::deadlock, {"cycle: ", "in the same order, across groups as well"});
}

TEST(D1, NotWhereOneSideReceivesFirst) {
  const auto report = run(2, [&](int rank) {
    Tensor out = ones({4}), in = zeros({4});
    if (rank == 0) send(out, 1), recv(in, 1);
    if (rank == 1) recv(in, 0), send(out, 0);
  });
  EXPECT_EQ(report.text(), "");
}

TEST(D2, DifferentCollectives) {
  const auto report = run(2, [&](int rank) {
    Tensor t = ones({4});
    rank == 0 ? all_reduce(t) : broadcast(t, 0);
  });
  expect_finding(report, Code::mismatched_collective, {"all_reduce #0", "broadcast #0", "same order"});
}

TEST(D2, DifferentRootsAndReductions) {
  const auto roots = run(2, [](int rank) {
    Tensor t = ones({4});
    broadcast(t, rank);
  });
  expect_finding(roots, Code::mismatched_collective,
                 {"broadcast #0 (4 f32, root 0)", "broadcast #0 (4 f32, root 1)"});
  const auto reductions = run(3, [](int rank) {
    Tensor t = ones({4});
    all_reduce(t, rank == 1 ? ReduceOp::max : ReduceOp::sum);
  });
  expect_finding(reductions, Code::mismatched_collective, {"all_reduce #0 (4 f32, max)"});
}

TEST(D3, CollectivesOfDifferentSizesAndDtypes) {
  const auto sizes = run(4, [](int rank) {
    Tensor t = ones({rank == 2 ? 5 : 4});
    all_reduce(t);
  });
  expect_finding(sizes, Code::misfit_message,
                 {"all_reduce #0 (5 f32)", "all_reduce #0 (4 f32)",
                  "fix: let every rank of the group make the same calls"});
  const auto dtypes = run(2, [](int rank) {
    Tensor t = ones({4}, rank == 0 ? DType::f32 : DType::i32);
    broadcast(t, 0);
  });
  expect_finding(dtypes, Code::misfit_message, {"(4 f32, root 0)", "(4 i32, root 0)"});
}

TEST(D3, SizesThatDiffer) {
  const auto report = run(2, [&](int rank) {
    Tensor t = ones({4 + rank});
    rank == 0 ? send(t, 1) : recv(t, 0);
  });
  expect_finding(report, Code::misfit_message,
                 {"16 bytes are sent and 20 expected", "rank 0: send", "rank 1: recv"});
}

TEST(D3, DtypesThatDiffer) {
  const auto report = run(2, [&](int rank) {
    Tensor t = ones({4}, rank == 0 ? DType::f32 : DType::i32);
    rank == 0 ? send(t, 1) : recv(t, 0);
  });
  expect_finding(report, Code::misfit_message, {"a different dtype"});
}

TEST(D4, AReceiveBufferThatIsReadTooEarly) {
  int line = 0;
  float early = 0, late = 0;
  const auto report = run(2, [&](int rank) {
    Tensor t = full({4}, 7);
    if (rank == 1) return void(send(t, 0));
    t.zero_();
    line = __LINE__ + 1;
    Work work = irecv(t, 1);
    early = t.data<float>()[3];
    work.wait();
    late = t.data<float>()[3];
  });
  expect_finding(report, Code::read_before_wait,
                 {"rank 0 used the tensor that recv #0 (4 f32) fills", here(line)});
  EXPECT_EQ(early, 0);
  EXPECT_EQ(late, 7);
}

TEST(D4, AnAsynchronousCollectivesResultThatIsReadTooEarly) {
  const auto report = run(3, [&](int rank) {
    Tensor t = ones({1000});
    Work work = all_reduce(t, ReduceOp::sum, {.async_op = true});
    if (rank == 2) t.mul_(2);
    work.wait();
    EXPECT_EQ(t.data<float>()[999], 3);
  });
  expect_finding(report, Code::read_before_wait,
                 {"rank 2 used the tensor that all_reduce #0 (1000 f32) fills"});
}

TEST(D4, NotWhereOnlyOtherRowsAreUsed) {
  const auto report = run(3, [&](int rank) {
    Tensor rows = zeros({3, 5}), mine = full({5}, rank);
    if (rank != 0) return void(send(mine, 0));
    Tensor first = rows[1], second = rows[2];
    Work a = irecv(first, 1), b = irecv(second, 2);
    rows[0].fill_(9);
    a.wait();
    EXPECT_EQ(sum(rows[1]), 5);
    b.wait();
    EXPECT_EQ(sum(rows[2]), 10);
    EXPECT_EQ(sum(rows[0]), 45);
  });
  EXPECT_EQ(report.text(), "");
}

TEST(D4, NotOnceTheWorkHasBeenSeenCompleted) {
  const auto report = run(2, [&](int rank) {
    Tensor t = full({4}, rank);
    if (rank == 1) return void(send(t, 0));
    Work work = irecv(t, 1);
    while (!work.is_completed()) {
    }
    EXPECT_EQ(sum(t), 4);
  });
  EXPECT_EQ(report.text(), "");
}

TEST(D5, ASendBufferThatIsChanged) {
  int line = 0;
  const auto report = run(2, [&](int rank) {
    Tensor t = ones({4});
    if (rank == 1) return void(recv(t, 0));
    line = __LINE__ + 1;
    Work work = isend(t, 1);
    t.fill_(2);
    work.wait();
  });
  expect_finding(report, Code::changed_before_wait,
                 {"rank 0 changed what send #0 (4 f32) sends", here(line)});
}

// Rows of one page: a rank that receives one row may read the row beside it, which is being sent, but must
// not write it.
TEST(D5, NotWhereTheRowBesideAReceiveIsOnlyRead) {
  const auto report = run(2, [&](int rank) {
    Tensor rows = full({4, 5}, rank), ghost = rows[0];
    Work coming = irecv(ghost, 1 - rank), going = isend(rows[1], 1 - rank);
    EXPECT_EQ(sum(rows[1]), 5 * rank);
    rows[2].fill_(9);
    coming.wait();
    going.wait();
    EXPECT_EQ(sum(rows[0]), 5 * (1 - rank));
  });
  EXPECT_EQ(report.text(), "");
}

TEST(D5, ASendBufferThatIsChangedBesideAReceive) {
  const auto report = run(2, [&](int rank) {
    Tensor rows = full({4, 5}, rank), ghost = rows[0];
    Work coming = irecv(ghost, 1 - rank), going = isend(rows[1], 1 - rank);
    if (rank == 1) rows[1].fill_(9);
    coming.wait();
    going.wait();
  });
  expect_finding(report, Code::changed_before_wait, {"rank 1 changed what send #1 (5 f32) sends"});
}

TEST(D6, AWorkThatIsDropped) {
  const auto report = run(2, [&](int rank) {
    Tensor t = ones({4});
    if (rank == 0) isend(t, 1);
    if (rank == 1) recv(t, 0);
  });
  expect_finding(report, Code::never_waited, {"rank 0 dropped the Work of send #0"});
}

TEST(D7, AMessageThatNobodyReceives) {
  const auto report = run(2, [&](int rank) {
    Tensor t = ones({4});
    if (rank == 0) isend(t, 1).wait();
  });
  expect_finding(report, Code::never_received,
                 {"rank 1 has left without receiving it", "send (16 bytes to rank 1)"});
}

TEST(D8, TwoOperationsOnOneTensor) {
  const auto report = run(2, [&](int) {
    Tensor t = ones({4});
    Work a = all_reduce(t, ReduceOp::sum, {.async_op = true});
    Work b = all_reduce(t, ReduceOp::sum, {.async_op = true});
    a.wait();
    b.wait();
  });
  ASSERT_EQ(report.findings.size(), 2u) << report.text();  // one per rank
  EXPECT_EQ(report.findings[0].code, Code::overlap);
}

TEST(D8, NotWhereBothOnlyRead) {
  const auto report = run(3, [&](int rank) {
    Tensor t = ones({4});
    if (rank != 0) return void(recv(t, 0));
    Work a = isend(t, 1), b = isend(t, 2);
    a.wait();
    b.wait();
  });
  EXPECT_EQ(report.text(), "");
}

TEST(D6, OfEveryRank) {
  const auto report = run(3, [](int) {
    Tensor t = ones({4});
    all_reduce(t, ReduceOp::sum, {.async_op = true});
  });
  EXPECT_EQ(report.findings.size(), 3u) << report.text();
}

TEST(D9, OutsidersAreToldTogether) {
  int line = 0;
  const auto report = run(5, [&](int) {
    const ProcessGroup pair = new_group({0, 1});
    Tensor t = ones({4});
    line = __LINE__ + 1;
    all_reduce(t, ReduceOp::sum, {.group = pair});
  });
  expect_finding(report, Code::wrong_group, {"group 1", "all_reduce at " + here(line), "only members"});
  EXPECT_EQ(report.findings[0].parties.size(), 3u);
}

TEST(D9, GroupsMadeInDifferentOrders) {
  const auto report = run(3, [&](int rank) {
    new_group(rank == 1 ? std::vector{1, 2} : std::vector{0, 1});
    new_group(rank == 1 ? std::vector{0, 1} : std::vector{1, 2});
  });
  expect_finding(report, Code::wrong_group, {"ranks 0, 2: new_group({0, 1}", "rank 1: new_group({1, 2}"});
}

TEST(D10, ACpuTensorForABackendOfTheGpu) {
  const auto report = run(3, [&](int) {
    const ProcessGroup all = new_group({0, 1, 2}, {.backend = "nccl"});
    Tensor t = ones({4});
    all_reduce(t);
    all_reduce(t, ReduceOp::sum, {.group = all});
  });
  expect_finding(report, Code::wrong_device,
                 {"the nccl backend takes CUDA tensors, and this one is on cpu", "ranks 0, 1, 2"});
}

TEST(D10, NotWhenNobodyLooks) {
  sim::RunOptions options;
  options.check = false;
  const auto report = sim::run(options, [](int) {
    init_process_group({.backend = "nccl"});
    Tensor t = ones({4});
    all_reduce(t);
  });
  EXPECT_EQ(report.text(), "");
}

TEST(WrongPrograms, ARankThatThrowsIsNamedFirst) {
  const auto report = run(4, [&](int rank) {
    if (rank == 2) throw std::runtime_error("out of paper");
    barrier();
  });
  EXPECT_TRUE(report.findings.empty()) << report.text();
  ASSERT_FALSE(report.failures.empty());
  EXPECT_EQ(report.failures[0].what, "rank 2: out of paper");
  EXPECT_EQ(report.failures.size(), 4u);
}

int endless(int depth) {
  volatile char room[512] = {};
  return depth < 0 ? 0 : room[depth % 512] + endless(depth + 1) + depth;
}

TEST(WrongProgramsDeathTest, RecursionWithoutEndIsToldAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run(3,
                  [](int rank) {
                    if (rank == 1) endless(0);
                  }),
              testing::ExitedWithCode(sim::exit_hopeless),
              "rank 1 has used up its stack of .* KiB: endless recursion");
}

TEST(WrongProgramsDeathTest, ARankThatNeverGivesWayIsToldAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  sim::RunOptions options;
  options.patience = std::chrono::milliseconds(300);
  const auto spin = [](int rank) {
    const volatile bool always = true;
    while (rank == 1 && always) {
    }
  };
  EXPECT_EXIT(sim::run(options, spin), testing::ExitedWithCode(sim::exit_hopeless),
              "rank 1 has blocked the simulation for .*: an endless loop");
}

TEST(WrongPrograms, RealSleepIsNoted) {
  const auto report = run(2, [](int rank) {
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  });
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.text(),
            "note: rank 1 really slept: the simulation stopped and virtual time did not pass; use "
            "dist::sleep\n");
}

TEST(WrongPrograms, ThreadsAreNoted) {
  const auto report = run(2, [](int rank) {
    if (rank != 0) return;
    std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }).join();
  });
  EXPECT_NE(report.text().find("rank 0 waited for another thread"), std::string::npos) << report.text();
  EXPECT_NE(report.text().find("threads were started"), std::string::npos) << report.text();
}

TEST(WrongPrograms, TensorsBeyondTheMachinesMemory) {
  const auto report = run(4, [](int) { std::vector<Tensor>{zeros({1ll << 20}), empty({1ll << 45})}; });
  ASSERT_EQ(report.failures.size(), 4u);
  EXPECT_NE(report.failures[0].what.find("the tensors of 4 simulated ranks need more than this machine's"),
            std::string::npos)
      << report.failures[0].what;
}

TEST(WrongPrograms, ATensorThatWasRefusedTakesNoMemory) {
  const auto report = run(2, [](int) {
    EXPECT_THROW(empty({1ll << 45}), Error);
    Tensor t = ones({4});
    all_reduce(t);
  });
  EXPECT_TRUE(report.failures.empty()) << report.text();
}

TEST(WrongPrograms, OptionsThatCannotBeServed) {
  EXPECT_THROW(run(0, [](int) {}), Error);
  sim::RunOptions options;
  options.ranks = 100'000;
  options.topology = "summit";
  EXPECT_THROW(sim::run(options, [](int) {}), Error);
}

// A send and a receive that wait for each other, and what keeps them apart.
std::string apart(const Options& of_send, const Options& of_recv) {
  sim::RunOptions options;
  options.ranks = 2;
  const auto report = sim::run(options, [&](int rank) {
    init_process_group();
    const ProcessGroup group = new_group({0, 1});
    const auto in_group = [&](Options with) {
      if (with.algorithm == "group") with.group = group;
      with.algorithm.clear();
      return with;
    };
    Tensor t = ones({4});
    rank == 0 ? send(t, 1, in_group(of_send)) : recv(t, 0, in_group(of_recv));
  });
  return report.text();
}

TEST(Wrong, ADeadlockNamesTagsAndGroupsThatKeepMessagesApart) {
  const std::string tags = apart({.tag = 1}, {});
  EXPECT_NE(tags.find("send #0 (4 f32, tag 1) at"), std::string::npos) << tags;
  EXPECT_NE(tags.find("recv #0 (4 f32, tag 0) at"), std::string::npos) << tags;
  EXPECT_NE(tags.find("give send and receive the same .tag"), std::string::npos) << tags;
  const std::string groups = apart({.algorithm = "group"}, {});
  EXPECT_NE(groups.find("send #0 (4 f32) in group 1 at"), std::string::npos) << groups;
  EXPECT_NE(groups.find("recv #0 (4 f32) in the default group at"), std::string::npos) << groups;
  EXPECT_NE(groups.find("give send and receive the same .group"), std::string::npos) << groups;
}

// Global tensors outlive the simulation that made them, and may be replaced in another.
TEST(Right, TensorsOutliveTheirSimulation) {
  static Tensor kept;
  for (const int n : {2, 65, 2, 65}) {  // with guarded tensors and without
    sim::RunOptions options;
    options.ranks = n;
    const auto report = sim::run(options, [](int rank) {
      init_process_group();
      if (rank == 0) kept = full({1000}, rank + 3);
    });
    EXPECT_TRUE(report.ok()) << report.text();
    EXPECT_EQ(max(kept), 3);
    if (n == 65) kept = {};
  }
}

}  // namespace
}  // namespace dist::test
