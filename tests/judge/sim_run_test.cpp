// The grader's simulation with ranks that do right and wrong. They are this very program (judge_test.cpp).
#include "judge/sim_run.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "dist/core/todo.h"
#include "dist/dist.h"

#include "judge/exam.h"
#include "judge/runner.h"
#include "judge/sums.h"

using judge::Json;

// What a rank does, by the name in its task.
Json rank_does(const Json& task) {
  const std::string what = task.at("rank_does");
  return judge::attempt([&]() -> Json {
    if (what == "todo") DIST_TODO("lab 00, part 1: everything");
    dist::init_process_group();
    const int rank = dist::get_rank(), n = dist::get_world_size();
    dist::Tensor t = dist::full({4}, rank), u = dist::zeros({4});
    if (what == "chain") {  // 0 -> 1 -> ... : n - 1 rounds
      if (rank > 0) dist::recv(t, rank - 1);
      if (rank + 1 < n) dist::send(t, rank + 1);
    }
    if (what == "both send first") {
      dist::send(t, (rank + 1) % n);
      dist::recv(u, (rank + n - 1) % n);
    }
    if (what == "all_reduce") dist::all_reduce(t);
    if (what == "the barrier without rank 1" && rank != 1) dist::barrier();
    if (what == "rank 1 throws" && rank == 1) throw std::runtime_error("the disk is full");
    if (what == "rank 1 exits" && rank == 1) std::_Exit(0);
    if (what == "rank 1 is killed" && rank == 1) std::raise(SIGKILL);
    if (what == "rank 1 sleeps forever" && rank == 1) std::this_thread::sleep_for(std::chrono::hours(1));
    if (what.starts_with("rank 1")) dist::barrier();
    if (what == "floods") {
      for (int i = 0; i < 2000; ++i) fmt::print("{:0>1000}", i);
    }
    return t.data<float>()[0];
  });
}

// A wrong all_reduce of the large sum that `task` asks for.
Json sums_wrongly(const Json& task) {
  return judge::attempt([&] {
    dist::init_process_group();
    Json constant = dist::get_rank() + 1;
    if (task.at("call") == "sums of parts") constant = nullptr;
    return Json::array({{{"same_memory", true}, {"constant", constant}}});
  });
}

namespace {

using namespace std::chrono_literals;

judge::SimRun run(const std::string& what, int ranks, judge::SimPlan plan = {}) {
  plan.tasks.assign(static_cast<std::size_t>(ranks), {{"rank_does", what}});
  plan.program = "/proc/self/exe";
  return judge::simulate(plan);
}

// The one failure that answers() adds.
std::string complaint(const judge::SimRun& run, const std::vector<std::string_view>& allowed = {}) {
  testing::TestPartResultArray failures;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    run.answers(allowed);
  }
  std::string all;
  for (int i = 0; i < failures.size(); ++i) all += failures.GetTestPartResult(i).message();
  return all;
}

TEST(SimRun, RoundsMessagesAndAnswers) {
  for (const int n : {1, 2, 5, 9}) {
    const auto done = run("chain", n, {.topology = "rounds"});
    EXPECT_EQ(done.answers(), std::vector<Json>(static_cast<std::size_t>(n), 0.0f));
    EXPECT_EQ(judge::rounds(done.report), n - 1);
    EXPECT_EQ(done.report.messages, static_cast<std::uint64_t>(n - 1));
  }
}

TEST(SimRun, ADeadlockIsExplained) {
  const auto said = complaint(run("both send first", 3));
  EXPECT_NE(said.find("D1 deadlock"), said.npos) << said;
  EXPECT_NE(said.find("sim_run_test.cpp:"), said.npos) << said;
  EXPECT_NE(said.find("let one rank receive before it sends"), said.npos) << said;
  EXPECT_EQ(complaint(run("both send first", 3, {.eager = true})), "");
  const auto left_out = complaint(run("the barrier without rank 1", 3), {"barrier"});
  EXPECT_NE(left_out.find("let every rank make this call"), left_out.npos) << left_out;
  const auto about = complaint(run("both send first", 3, {.about = "a ring of 3"}));
  EXPECT_TRUE(about.find("a ring of 3: D1 deadlock") != about.npos) << about;
}

TEST(SimRun, AForbiddenCollectiveIsSeen) {
  const auto done = run("all_reduce", 3);
  EXPECT_EQ(complaint(done, {"all_reduce"}), "");
  const auto said = complaint(done);
  EXPECT_NE(said.find("calls dist::all_reduce at sim_run_test.cpp:"), said.npos) << said;
}

TEST(SimRun, ATraceHasTheCallsOfEveryRank) {
  judge::SimPlan plan;
  plan.trace = true;
  const auto is_call = [](const dist::trace::Event& event) {
    return event.kind == dist::trace::Kind::call && event.name == "all_reduce" && event.bytes == 16;
  };
  EXPECT_EQ(std::ranges::count_if(run("all_reduce", 3, plan).report.trace.events, is_call), 3);
  EXPECT_TRUE(run("all_reduce", 3).report.trace.events.empty());
}

// What the report will say of the last run of this test.
bool has_picture() {
  const auto& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.test_property_count(); ++i) {
    const auto& property = result.GetTestProperty(i);
    if (property.key() == std::string("picture")) return !std::string(property.value()).empty();
  }
  return false;
}

TEST(SimRun, APictureIsSpokenOfWhereThereIsOne) {
  judge::SimPlan plan;
  plan.trace = true;
  const std::pair<const char*, bool> runs[] = {{"chain", true},    {"both send first", true},
                                               {"todo", false},    {"all_reduce", true},
                                               {"nothing", false}, {"the barrier without rank 1", true}};
  for (const auto& [what, is_drawn] : runs) {
    EXPECT_EQ(!run(what, 3, plan).report.trace.events.empty(), is_drawn) << what;
    EXPECT_EQ(has_picture(), is_drawn) << what;
    run(what, 3);
    EXPECT_EQ(has_picture(), is_drawn) << what << ", without a trace";
  }
}

TEST(SimRun, TheRankThatFailsIsNamed) {
  EXPECT_NE(complaint(run("rank 1 throws", 3), {"barrier"}).find("rank 1: the disk is full"),
            std::string::npos);
  const std::pair<const char*, const char*> ends[] = {
      {"rank 1 exits", "rank 1 ended with exit status 0 before it had reported that it was done"},
      {"rank 1 is killed", "rank 1 was ended by signal 9 (Killed)"}};
  for (const auto& [what, told] : ends) {
    const auto said = complaint(run(what, 3), {"barrier"});
    EXPECT_NE(said.find(told), said.npos) << what << said;
  }
}

TEST(SimRun, WhatIsNotWrittenIsToldApart) {
  const auto done = run("todo", 2);
  EXPECT_TRUE(judge::is_todo(done.ranks[0].reply));
}

TEST(SimRun, ARankThatSleepsForEverIsStopped) {
  judge::SimPlan plan;
  plan.limits.asleep = 700ms;
  const auto begin = std::chrono::steady_clock::now();
  const auto said = complaint(run("rank 1 sleeps forever", 3, plan), {"barrier"});
  EXPECT_NE(said.find("rank 1 had not finished after "), said.npos) << said;
  EXPECT_NE(said.find(" s of sleep and was stopped"), said.npos) << said;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(SimRun, FloodsOfOutputHoldNobodyUp) { EXPECT_EQ(complaint(run("floods", 3)), ""); }

TEST(SimRun, TheSameRunTwice) {
  const auto a = run("all_reduce", 5), b = run("all_reduce", 5);
  EXPECT_EQ(a.report.virtual_time_s, b.report.virtual_time_s);
  EXPECT_EQ(a.report.messages, b.report.messages);
}

// Too short a time to measure anything with.
TEST(SimRun, AFailedRunOfTheJudgesOwnIsNoMeasure) {
  dist::sim::RunOptions options;
  options.ranks = 3;
  const auto compute = [](int) { dist::sim::compute(2); };
  EXPECT_EQ(judge::simulate_own(options, compute).virtual_time_s, 2);
  const auto fail = [](int rank) {
    if (rank == 1) throw std::runtime_error("no memory");
  };
  try {
    judge::simulate_own(options, fail);
    FAIL() << "it has succeeded";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no memory"), std::string::npos) << error.what();
  }
}

TEST(Sums, OfALargeSumIsSaidWhatEachRankGaveAndWhatIsThere) {
  const auto said = [](const std::string& call) {
    testing::TestPartResultArray failures;
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    judge::expect_sums({.call = call, .sums = {judge::large_sum(3, 1 << 20, 512)}});
    return failures.size() == 1 ? std::string(failures.GetTestPartResult(0).message()) : "";
  };
  const std::string each =
      " among 3 ranks, 1048576 f32 each in segments of 512: rank 0 gave 1 in every element, rank 1 gave 2, "
      "and "
      "so on, so every sum is 6; on rank 0 ";
  EXPECT_EQ(said("sums nothing"), "Failed\nsums nothing" + each + "every element is 1");
  EXPECT_EQ(said("sums of parts"), "Failed\nsums of parts" + each + "the elements differ from one another");
}

TEST(Sums, ARunNamesAllThatIsSummedInIt) {
  judge::SumsAsked asked{.call = "ring", .sums = {{.of = {{1, 2, 3}, {4, 5, 6}}, .segment = 2}}};
  EXPECT_EQ(asked.text_of_all(), "ring among 2 ranks, 3 f32 each in segments of 2");
  asked.sums.push_back({.of = {Json::array(), Json::array()}});
  asked.sums.push_back({.of = {{7}, {8}}, .dtype = "i64"});
  EXPECT_EQ(asked.text_of_all(), "ring among 2 ranks, 3 f32 each in segments of 2, then 0 f32 and 1 i64");
}

}  // namespace
