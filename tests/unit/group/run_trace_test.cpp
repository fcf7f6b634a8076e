// DIST_TRACE on real ranks: the file, the clock, and what does not change.
#include "dist/group/diagnosis/run_trace.h"

#include <atomic>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/group/join/settings.h"
#include "dist/trace/chrome_json.h"

#include "run_traces.h"

namespace dist::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using trace::Kind;
using trace::Trace;

class EveryAllReduce : public testing::TestWithParam<std::tuple<std::string, int, int>> {};

TEST_P(EveryAllReduce, GivesTheSameBitsWithATrace) {
  const auto& [algorithm, n, count] = GetParam();
  const auto sums = [&] {
    std::vector<std::string> bits(static_cast<std::size_t>(n));
    run_ranks(n, [&, algorithm = algorithm, count = count](int rank) {
      Tensor t = zeros({count});
      for (int i = 0; i < count; ++i) t.data<float>()[i] = 1.0f / static_cast<float>(3 + i + 7 * rank);
      all_reduce(t, ReduceOp::sum, {.algorithm = algorithm});
      bits[static_cast<std::size_t>(rank)].assign(reinterpret_cast<const char*>(t.raw()), t.nbytes());
    });
    return bits;
  };
  const auto expected = sums();
  const Folder folder;
  const ScopedEnv variable("DIST_TRACE", folder.file("trace.json"));
  EXPECT_EQ(sums(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, EveryAllReduce,
                         testing::Combine(testing::Values("ring", "tree", "recursive_doubling"),
                                          testing::Values(1, 2, 3, 5, 8),
                                          testing::Values(0, 1, 1000, 100000)));

TEST(RunTrace, SurvivesItsFile) {
  const Trace trace = traced(3, [](int) {
    Tensor t = ones({50});
    all_reduce(t);
  });
  const std::string text = trace::to_chrome_json(trace);
  EXPECT_EQ(trace::to_chrome_json(trace::parse_chrome_json(text, "memory")), text);
}

TEST(RunTrace, OfSpawnedThreadsIsOneFile) {
  const Folder folder;
  const std::string file = folder.file("run.json");
  const ScopedEnv variable("DIST_TRACE", file);
  spawn(
      3,
      [](int) {
        init_process_group();
        barrier();
      },
      Ranks::threads);
  const Trace trace = trace::read_file(file);
  EXPECT_EQ(trace.ranks, 3);
  EXPECT_EQ(of_kind(trace, Kind::call).size(), 3u);
  for (int rank = 0; rank < 3; ++rank) EXPECT_FALSE(fs::exists(trace::part_path(file, rank, 3)));
}

TEST(RunTrace, OfASingleRankIsTheFileItself) {
  const Folder folder;
  const std::string file = folder.file("alone.json");
  const ScopedEnv variable("DIST_TRACE", file);
  run_ranks(1, [](int) { barrier(); });
  EXPECT_EQ(of_kind(trace::read_file(file), Kind::call).size(), 1u);
}

TEST(RunTrace, AnErrorLeavesAFileToo) {
  const Folder folder;
  const std::string file = folder.file("trace.json");
  const ScopedEnv variable("DIST_TRACE", file);
  expect_error(Errc::peer_failed, {"the root"}, [] {
    spawn(
        3,
        [](int rank) {
          init_process_group();
          Tensor t = ones({1000});
          all_reduce(t);
          if (rank == 2) throw std::runtime_error("the root");
          all_reduce(t);
        },
        Ranks::threads);
  });
  const Trace trace = trace::read_file(file);
  EXPECT_EQ(trace.ranks, 3);
  const auto calls = of_kind(trace, Kind::call);
  EXPECT_EQ(calls.size(), 5u) << "those that failed are there, too";
  EXPECT_EQ(std::ranges::count(calls, trace::Ending::failed, &trace::Event::ending), 2);
}

TEST(RunTrace, AnEmptyNameMeansNone) {
  const ScopedEnv variable("DIST_TRACE", "");
  EXPECT_TRUE(read_settings().trace_file.empty());
  run_ranks(2, [](int) { barrier(); });
  sim::RunOptions options;
  options.ranks = 2;
  EXPECT_TRUE(sim::run(options, [](int) { init_process_group(); }).trace.events.empty());
}

TEST(RunTrace, AFileThatCannotBeWrittenIsAWarning) {
  const Folder folder;
  const std::string file = folder.file("missing/trace.json");
  const ScopedEnv variable("DIST_TRACE", file);
  testing::internal::CaptureStderr();
  std::atomic<int> right{0};
  run_ranks(2, [&](int) {
    Tensor t = ones({1});
    all_reduce(t);
    right += t.data<float>()[0] == 2.0f;
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(right, 2);
  EXPECT_EQ(std::ranges::count(said, '\n'), 2) << said;
  for (const std::string part : {"trace.rank0.json", "trace.rank1.json", "there is no folder"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(Moments, AreReadAsTheyWereWritten) {
  const Moment moment = Moment::parse(Moment{-5, 1'700'000'000'000'000'000}.str());
  EXPECT_EQ(moment.steady_ns, -5);
  EXPECT_EQ(moment.system_ns, 1'700'000'000'000'000'000);
  for (const char* text : {"", "1", "1 ", "1 x", "1 2 3", "x 1"})
    expect_error(Errc::internal, {text}, [&] { Moment::parse(text); });
}

TEST(Moments, GiveOneOriginOnBothClocks) {
  const Moment now = Moment::now();
  const auto on_host = origin_of(now, true), across = origin_of(now, false);
  EXPECT_EQ(on_host.time_since_epoch(), std::chrono::nanoseconds(now.steady_ns));
  EXPECT_LT(std::chrono::abs(on_host - across), 100ms);
}

TEST(Moments, ANegativeTimeIsZero) {
  trace::RankTracer tracer(0, 1, "");
  const auto now = trace::RankTracer::Clock::now();
  tracer.start(now);
  EXPECT_EQ(tracer.at(now - 1s), 0);
  EXPECT_EQ(tracer.at(now + 3ns), 3000);
}

}  // namespace
}  // namespace dist::test
