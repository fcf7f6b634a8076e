// DIST_TRACE on processes: one file of all ranks, drawn by distlab trace.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "dist/dist.h"
#include "dist/trace/recorder.h"

#include "run_program.h"
#include "support/expect_error.h"

namespace {

namespace fs = std::filesystem;
using dist::Errc;
using dist::test::expect_error;
using dist::test::ScopedEnv;
using dist::trace::Kind;
using dist::trace::Trace;
using dist_test::Ran;
using dist_test::run_program;

class RunTrace : public testing::Test {
 protected:
  RunTrace() : folder_(dist_test::temporary_folder()), file_(folder_ / "trace.json") {}
  ~RunTrace() override { fs::remove_all(folder_); }

  Ran run(std::vector<std::string> program, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> environment{"DIST_TRACE=" + file_.string()};
    environment.insert(environment.end(), more.begin(), more.end());
    return run_program(program, environment);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  const fs::path folder_, file_;
};

using Names = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_all_messages_have_two_ends(const Trace& trace) {
  std::vector<std::uint64_t> sent, received;
  for (const auto& event : trace.events) {
    if (event.kind == Kind::send) sent.push_back(event.message);
    if (event.kind == Kind::receive) received.push_back(event.message);
  }
  std::ranges::sort(sent);
  std::ranges::sort(received);
  EXPECT_FALSE(sent.empty());
  EXPECT_EQ(std::ranges::adjacent_find(sent), sent.end());
  EXPECT_EQ(sent, received);
}

void expect_picture(const fs::path& file, int ranks) {
  const Ran drawn = run_program({DISTLAB_PROGRAM, "trace", file.string()});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  for (int rank = 0; rank < ranks; ++rank)
    EXPECT_TRUE(contains(drawn.out, fmt::format("rank {}", rank))) << drawn.out;
  EXPECT_TRUE(contains(drawn.out, "real time")) << drawn.out;
}

TEST_F(RunTrace, OfSpawnedProcessesIsOneFileWithAPicture) {
  const Ran ran = run({SAME_PROGRAM, "processes", "4"}, {"DIST_LOG=info"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "trace of 4 of 4 ranks written to " + file_.string())) << ran.err;
  EXPECT_EQ(files(), Names{"trace.json"});
  const Trace trace = dist::trace::read_file(file_);
  EXPECT_EQ(trace.ranks, 4);
  EXPECT_EQ(trace.title, "4 ranks, started by spawn");
  expect_all_messages_have_two_ends(trace);
  expect_picture(file_, 4);
}

TEST_F(RunTrace, UnderDistrunIsOneFileToo) {
  const Ran ran = run({DISTRUN, "--nproc-per-node", "3", SAME_PROGRAM});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err.find("trace"), std::string::npos) << ran.err;
  EXPECT_EQ(files(), Names{"trace.json"});
  expect_all_messages_have_two_ends(dist::trace::read_file(file_));
  expect_picture(file_, 3);
}

TEST_F(RunTrace, OfAnErrorThatNobodyCatchesIsWrittenToo) {
  const Ran ran = run({DISTRUN, "--nproc-per-node", "1", SAME_PROGRAM, "careless"});
  EXPECT_NE(ran.code, 0);
  EXPECT_TRUE(contains(ran.err, "nothing catches this")) << ran.err;
  ASSERT_EQ(files(), Names{"trace.json"}) << ran.err;
  const Trace trace = dist::trace::read_file(file_);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].name, "barrier");
}

TEST_F(RunTrace, OfSpawnedProcessesWhoseErrorNobodyCatchesIsOneFileToo) {
  const Ran ran = run({SAME_PROGRAM, "careless", "2"});
  EXPECT_NE(ran.code, 0);
  ASSERT_EQ(files(), Names{"trace.json"}) << ran.err;
  EXPECT_EQ(dist::trace::read_file(file_).ranks, 2);
}

TEST_F(RunTrace, OverSocketsAndWithTheMismatchCheckIsWholeToo) {
  const Ran ran = run({SAME_PROGRAM, "processes", "3"}, {"DIST_TRANSPORT=tcp", "DIST_DEBUG=detail"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  expect_all_messages_have_two_ends(dist::trace::read_file(file_));
}

// Each process says that it is a host of its own; the clocks are still one.
TEST_F(RunTrace, OfSeveralHostsGoesByTheSystemClock) {
  const Ran ran = run({DISTRUN, "--nproc-per-node", "2", "sh", "-c", "DIST_HOST_ID=host$RANK " SAME_PROGRAM});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Trace trace = dist::trace::read_file(file_);
  expect_all_messages_have_two_ends(trace);
  for (const auto& event : trace.events) {
    EXPECT_GE(event.begin, 0);
    EXPECT_LT(event.end, 60'000'000'000'000) << "a minute";
  }
}

// Without a process that sees all ranks end, each leaves its own file.
TEST_F(RunTrace, OfRanksStartedByHandIsMergedByDistlab) {
  const auto rank = [&](int number) {
    return std::vector<std::string>{fmt::format("RANK={}", number), "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1",
                                    fmt::format("MASTER_PORT={}", 21000 + getpid() % 9000),
                                    "DIST_TRACE=" + file_.string()};
  };
  dist_test::Running first({SAME_PROGRAM}, rank(0)), second({SAME_PROGRAM}, rank(1));
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(second.wait().code, 0);
  EXPECT_EQ(files(), (Names{"trace.rank0.json", "trace.rank1.json"}));
  const Ran drawn =
      run_program({DISTLAB_PROGRAM, "trace", folder_ / "trace.rank0.json", folder_ / "trace.rank1.json"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(contains(drawn.out, "rank 1")) << drawn.out;
}

TEST_F(RunTrace, ThatCannotBeWrittenIsOneLineARankAndTheProgramGoesOn) {
  const Ran ran = run_program({SAME_PROGRAM, "processes", "2"}, {"DIST_TRACE=/proc/nowhere/trace.json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = dist_test::lines_of(ran.err);
  ASSERT_EQ(lines.size(), 2u) << ran.err;
  for (const auto& line : lines) {
    EXPECT_TRUE(contains(line, "/proc/nowhere/trace.rank")) << line;
    EXPECT_TRUE(contains(line, "there is no folder")) << line;
  }
}

TEST_F(RunTrace, ARankThatThrowsLeavesAFile) {
  const ScopedEnv variable("DIST_TRACE", file_);
  expect_error(Errc::peer_failed, {"rank 1: the root"}, [] {
    dist::spawn(3, [](int rank) {
      dist::init_process_group();
      dist::barrier();
      if (rank == 1) throw std::runtime_error("the root");
      auto t = dist::ones({1000});
      dist::all_reduce(t);
    });
  });
  EXPECT_EQ(files(), Names{"trace.json"});
  const Trace trace = dist::trace::read_file(file_);
  for (int rank = 0; rank < 3; ++rank) {
    const auto of_rank = [&](const auto& event) { return event.rank == rank && event.kind == Kind::call; };
    EXPECT_EQ(std::ranges::count_if(trace.events, of_rank), rank == 1 ? 1 : 2);
  }
}

TEST_F(RunTrace, ARankThatIsKilledLeavesNoneAndTheOthersDo) {
  const ScopedEnv variable("DIST_TRACE", file_);
  expect_error(Errc::peer_failed, {"rank 1 was killed"}, [] {
    dist::spawn(3, [](int rank) {
      dist::init_process_group();
      dist::barrier();
      if (rank == 1) raise(SIGKILL);
      auto t = dist::ones({1000});
      dist::all_reduce(t);
    });
  });
  const Trace trace = dist::trace::read_file(file_);
  EXPECT_EQ(trace.ranks, 3);
  EXPECT_TRUE(std::ranges::none_of(trace.events, [](const auto& event) { return event.rank == 1; }));
  EXPECT_TRUE(std::ranges::any_of(trace.events, [](const auto& event) { return event.rank == 2; }));
}

TEST_F(RunTrace, OfAProgramThatExitsWithoutLeavingIsThere) {
  const ScopedEnv variable("DIST_TRACE", file_);
  try {
    dist::spawn(2, [](int) {
      dist::init_process_group();
      dist::barrier();
      std::exit(0);
    });
  } catch (const dist::Error&) {
    // What spawn says about it does not matter here.
  }
  EXPECT_EQ(dist::trace::read_file(file_).ranks, 2);
}

}  // namespace
