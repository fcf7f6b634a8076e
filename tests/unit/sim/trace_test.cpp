// Traces of simulated runs.
#include <gtest/gtest.h>

#include "dist/core/kernels.h"
#include "dist/dist.h"
#include "dist/trace/chrome_json.h"
#include "dist/trace/contributors.h"

#include "drawing/player_json.h"

namespace dist::test {
namespace {

using trace::Kind;

sim::Report traced(int n, const std::function<void(int)>& fn) {
  sim::RunOptions options;
  options.ranks = n;
  options.trace = true;
  return sim::run(options, [&](int rank) {
    init_process_group();
    fn(rank);
  });
}

std::vector<trace::Event> events_of(const trace::Trace& trace, Kind kind) {
  std::vector<trace::Event> found;
  std::ranges::copy_if(trace.events, std::back_inserter(found),
                       [&](const trace::Event& event) { return event.kind == kind; });
  return found;
}

sim::Report all_reduced(int n, const std::string& algorithm) {
  return traced(n, [&](int) {
    Tensor t = ones({64});
    all_reduce(t, ReduceOp::sum, {.algorithm = algorithm});
  });
}

class Algorithm : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(Algorithm, OfAnAllReduceAddsUpEverybodysParts) {
  const auto& [algorithm, n] = GetParam();
  const auto report = all_reduced(n, algorithm);
  const auto sends = events_of(report.trace, Kind::send), receives = events_of(report.trace, Kind::receive);
  EXPECT_EQ(sends.size(), report.messages);
  EXPECT_EQ(receives.size(), report.messages);
  const trace::RankSet everybody = (trace::RankSet{1} << n) - 1;
  std::vector<trace::RankSet> has(static_cast<std::size_t>(n));
  for (const auto& event : report.trace.events) {
    if (event.kind != Kind::receive && event.kind != Kind::reduce) continue;
    has[static_cast<std::size_t>(event.rank)] |= event.contributors;
    EXPECT_EQ(event.contributors & ~everybody, 0u);
  }
  for (const auto ranks : has) EXPECT_EQ(ranks, everybody);
  const auto calls = events_of(report.trace, Kind::call);
  ASSERT_EQ(calls.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(calls[0].algorithm, algorithm);
  EXPECT_EQ(calls[0].bytes, 256u);
}

TEST_P(Algorithm, SendsAndReceivesBelongTogether) {
  const auto& [algorithm, n] = GetParam();
  const auto report = all_reduced(n, algorithm);
  std::map<std::uint64_t, trace::Event> sends;
  for (const auto& send : events_of(report.trace, Kind::send)) sends[send.message] = send;
  for (const auto& receive : events_of(report.trace, Kind::receive)) {
    ASSERT_TRUE(sends.contains(receive.message));
    const auto& send = sends[receive.message];
    EXPECT_EQ(send.rank, receive.peer);
    EXPECT_EQ(send.peer, receive.rank);
    EXPECT_EQ(send.bytes, receive.bytes);
    EXPECT_EQ(send.contributors, receive.contributors);
    EXPECT_LE(send.end, receive.end);
    EXPECT_EQ(send.name, "all_reduce");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Algorithm,
                         testing::Combine(testing::Values("ring", "tree", "recursive_doubling"),
                                          testing::Values(2, 4, 7, 8)));

TEST(SimTrace, ARingsLastReductionIsComplete) {
  const auto report = all_reduced(4, "ring");
  const auto reductions = events_of(report.trace, Kind::reduce);
  ASSERT_EQ(reductions.size(), 12u);  // n (n - 1)
  std::set<std::int64_t> complete;
  for (const auto& event : reductions) {
    if (event.contributors == 0b1111) complete.insert(event.offset);
  }
  EXPECT_EQ(complete, (std::set<std::int64_t>{0, 64, 128, 192}));  // each quarter of 256 bytes, somewhere
}

// An algorithm as a student might write it: 0 -> 1 -> 2, and rank 1 adds its own before it sends on.
TEST(SimTrace, AMessageCarriesOnWhatCame) {
  const auto report = traced(3, [](int rank) {
    Tensor data = ones({4}), inbox = zeros({4});
    if (rank > 0) {
      recv(inbox, rank - 1);
      reduce(data.flat(), inbox.flat(), ReduceOp::sum);
    }
    if (rank < 2) send(data, rank + 1);
  });
  const auto sends = events_of(report.trace, Kind::send);
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(sends[0].contributors, 0b001u);
  EXPECT_EQ(sends[1].contributors, 0b011u);
  EXPECT_EQ(events_of(report.trace, Kind::reduce).back().contributors, 0b111u);
}

TEST(SimTrace, AMessageUnderWayCarriesOnWhatCame) {
  const auto report = traced(3, [](int rank) {
    Tensor data = ones({4}), inbox = zeros({4});
    if (rank > 0) {
      irecv(inbox, rank - 1).wait();
      reduce(data.flat(), inbox.flat(), ReduceOp::sum);
    }
    if (rank < 2) isend(data, rank + 1).wait();
  });
  EXPECT_EQ(events_of(report.trace, Kind::send).back().contributors, 0b011u);
  EXPECT_EQ(events_of(report.trace, Kind::reduce).back().contributors, 0b111u);
}

TEST(SimTrace, NewMemoryIsOnesOwn) {
  const auto report = traced(2, [](int rank) {
    for (int round = 0; round < 2; ++round) {
      Tensor data = full({4}, rank);  // where the last one was
      rank == 0 ? void(send(data, 1)) : void(recv(data, 0));
    }
    Tensor data = full({4}, rank);
    rank == 1 ? void(send(data, 0)) : void(recv(data, 1));
  });
  EXPECT_EQ(events_of(report.trace, Kind::send).back().contributors, 0b10u);
}

TEST(SimTrace, TheSameRunGivesTheSameBytes) {
  const auto once = [] {
    return trace::to_chrome_json(traced(5, [](int rank) {
                                   Tensor t = ones({100}), in = zeros({1}), out = full({1}, rank);
                                   Work work = all_reduce(t, ReduceOp::sum, {.async_op = true});
                                   sim::compute(1e-6 * rank);
                                   if (rank > 0) send(out, 0);
                                   for (int i = 1; rank == 0 && i < 5; ++i) recv(in);
                                   work.wait();
                                   barrier();
                                 }).trace);
  };
  const std::string first = once();
  EXPECT_EQ(first, once());
  EXPECT_EQ(trace::to_chrome_json(trace::parse_chrome_json(first, "memory")), first);
}

TEST(SimTrace, ComputationAndWaitsAreThere) {
  const auto report = traced(2, [](int rank) {
    Tensor t = zeros({1});
    if (rank == 0) sim::compute(2e-6);
    rank == 0 ? void(send(t, 1)) : void(recv(t, 0));
  });
  const auto computes = events_of(report.trace, Kind::compute);
  ASSERT_EQ(computes.size(), 1u);
  EXPECT_EQ(computes[0].end - computes[0].begin, 2'000'000);
  const auto waits = events_of(report.trace, Kind::wait);
  const bool receiver_waited = std::ranges::any_of(waits, [](const trace::Event& event) {
    return event.rank == 1 && event.end - event.begin >= 2'000'000;
  });
  EXPECT_TRUE(receiver_waited);
}

TEST(SimTrace, ACallThatNeverEndedIsOpenUntilTheEnd) {
  const auto report = traced(2, [](int rank) {
    Tensor t = zeros({1});
    if (rank == 1) sim::compute(3e-6);
    if (rank == 0) recv(t, 1);
  });
  const auto calls = events_of(report.trace, Kind::call);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_GE(calls[0].end, 3'000'000);
}

TEST(SimTrace, ALostRanksCallIsCutOffAndThoseOfOthersFail) {
  sim::RunOptions options;
  options.ranks = 3;
  options.trace = true;
  options.what_if.losses = {{1, 1e-3}};
  const auto report = sim::run(options, [](int rank) {
    init_process_group();
    Tensor t = ones({64});
    if (rank == 0) sim::compute(2e-3);
    all_reduce(t);
  });
  const auto calls = events_of(report.trace, Kind::call);
  ASSERT_EQ(calls.size(), 3u);
  for (const auto& call : calls) {
    EXPECT_EQ(call.ending, call.rank == 1 ? trace::Ending::cut_off : trace::Ending::failed);
    if (call.rank == 1) {
      EXPECT_EQ(call.end, 1'000'000'000) << "when it was lost";
    }
  }
}

TEST(SimTrace, TellsWhatWasFoundAndHowManyRanksANodeHas) {
  sim::RunOptions options;
  options.ranks = 2;
  options.topology = "dgx-a100-hdr";
  options.trace = true;
  const auto report = sim::run(options, [](int rank) {
    init_process_group();
    Tensor t = zeros({1});
    recv(t, 1 - rank);
  });
  EXPECT_EQ(report.trace.ranks_per_node, 8);
  ASSERT_EQ(report.trace.findings.size(), 1u);
  const trace::Finding& finding = report.trace.findings[0];
  EXPECT_EQ(finding.code, "D1");
  EXPECT_EQ(finding.title, "deadlock");
  EXPECT_FALSE(finding.mend.empty());
  ASSERT_EQ(finding.parties.size(), 2u);
  EXPECT_EQ(finding.parties[0].waits_for, std::vector{1});
  EXPECT_EQ(finding.parties[1].waits_for, std::vector{0});
}

TEST(SimTrace, IsEmptyWhenNobodyAsked) {
  sim::RunOptions options;
  EXPECT_TRUE(sim::run(options, [](int) {
                init_process_group();
                barrier();
              }).trace.events.empty());
}

}  // namespace
}  // namespace dist::test
