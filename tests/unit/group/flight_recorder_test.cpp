// The flight recorder and its dumps.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/group/diagnosis/flight_dump.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using nlohmann::json;
using test::expect_error;
using test::run_ranks;
using test::ScopedEnv;
using namespace std::chrono_literals;

FlightRecord record_of(std::string_view operation, std::uint64_t sequence) {
  FlightRecord record;
  record.operation = operation;
  record.sequence = sequence;
  record.count = 4;
  record.dtype = DType::f32;
  record.where = {"src/train.cpp", 41};
  return record;
}

TEST(FlightRecorder, StatesAndRing) {
  FlightRecorder recorder(3);
  EXPECT_EQ(recorder.activity().what, "in no operation and has not begun one");
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto id = recorder.issued(record_of("all_reduce", i));
    recorder.started(id, "ring");
    if (i < 4) recorder.completed(id);
  }
  recorder.completed(1);  // overwritten long ago: nothing happens
  const auto records = recorder.snapshot();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].sequence, 2u);
  EXPECT_EQ(records[2].sequence, 4u);
  EXPECT_EQ(records[1].state, RecordState::completed);
  EXPECT_EQ(records[2].state, RecordState::running);
  EXPECT_EQ(records[2].algorithm, "ring");
  EXPECT_LE(records[1].issued, records[1].started);
  EXPECT_LE(records[1].started, records[1].ended);
  EXPECT_EQ(recorder.activity().what, "in all_reduce #4 (4 f32) at train.cpp:41");
  recorder.failed(records[2].id, "it broke");
  EXPECT_EQ(recorder.snapshot()[2].error, "it broke");
  EXPECT_EQ(recorder.activity().what,
            "in no operation; the last, all_reduce #4 (4 f32) at train.cpp:41, failed");
}

TEST(FlightRecorder, ManyOpenOperationsAreCounted) {
  FlightRecorder recorder(16);
  for (std::uint64_t i = 0; i < 5; ++i) recorder.issued(record_of("recv", i));
  EXPECT_EQ(recorder.activity().what,
            "in recv #0 (4 f32) at train.cpp:41 and recv #1 (4 f32) at train.cpp:41 and recv #2 (4 f32) at "
            "train.cpp:41 and 2 more");
}

TEST(FlightRecorder, WhatIsUnderWayIsKnownHoweverLongAgoItBegan) {
  FlightRecorder recorder(3);
  auto receive = record_of("recv", 0);
  receive.blocks = true;
  const auto stands = recorder.issued(receive);
  const auto waits = recorder.issued(record_of("irecv", 1));
  for (std::uint64_t i = 2; i < 300; ++i) recorder.completed(recorder.issued(record_of("all_reduce", i)));
  recorder.waiting(waits, true);
  ASSERT_EQ(recorder.stood_in().size(), 2u);
  EXPECT_EQ(recorder.stood_in()[0].what(), "recv #0 (4 f32) at train.cpp:41");
  EXPECT_EQ(recorder.snapshot().size(), 5u);
  EXPECT_TRUE(recorder.knows_all_open());
  recorder.waiting(waits, false);
  EXPECT_EQ(recorder.stood_in().size(), 1u);
  recorder.completed(waits);
  recorder.failed(stands, "it broke");
  EXPECT_TRUE(recorder.stood_in().empty());
  EXPECT_EQ(recorder.snapshot().size(), 3u);
}

TEST(FlightRecorder, WhereThreadsStandIsKnownHoweverManyAreUnderWay) {
  FlightRecorder recorder(1);
  constexpr std::uint64_t all = 5000;
  for (std::uint64_t i = 0; i < all; ++i) recorder.issued(record_of("irecv", i));
  EXPECT_FALSE(recorder.knows_all_open());
  recorder.waiting(all - 1, true);  // that is not kept any more
  EXPECT_EQ(recorder.stood_in().size(), 1u);
  recorder.waiting(all - 1, false);
  EXPECT_TRUE(recorder.stood_in().empty());
  for (std::uint64_t id = 1; id <= all; ++id) recorder.completed(id);
  EXPECT_TRUE(recorder.knows_all_open());
}

TEST(FlightRecorder, UsedFromManyThreads) {
  FlightRecorder recorder(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const auto id = recorder.issued(record_of("send", i));
        recorder.started(id, {});
        if (i % 2)
          recorder.failed(id, "no");
        else
          recorder.completed(id);
        if (i % 100 == 0) recorder.snapshot();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(recorder.snapshot().back().id, 8000u);
}

TEST(FlightRecorder, Json) {
  FlightLog log(2, 4, 8, "");
  log.recorder.name_group(0, "the default group");
  auto record = record_of("broadcast", 3);
  record.root = 1;
  const auto id = log.recorder.issued(record);
  log.recorder.started(id, "chain");
  log.recorder.failed(id, "quote \" and \xff byte");
  const auto parsed = json::parse(to_json(log, "timeout"));
  EXPECT_EQ(parsed["rank"], 2);
  EXPECT_EQ(parsed["world_size"], 4);
  EXPECT_EQ(parsed["reason"], "timeout");
  const auto& entry = parsed["records"].at(0);
  EXPECT_EQ(entry["operation"], "broadcast");
  EXPECT_EQ(entry["group"], "the default group");
  EXPECT_EQ(entry["state"], "failed");
  EXPECT_EQ(entry["algorithm"], "chain");
  EXPECT_EQ(entry["bytes"], 16);
  EXPECT_EQ(entry["root"], 1);
  EXPECT_TRUE(entry["peer"].is_null());
  EXPECT_EQ(entry["file"], "src/train.cpp");
  EXPECT_EQ(entry["line"], 41);
  const double now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(entry["issued"].get<double>(), now, 5);
}

class Dumps : public testing::Test {
 protected:
  void SetUp() override {
    directory = std::filesystem::temp_directory_path() / ("distlab_dumps_" + std::to_string(getpid()));
    std::filesystem::remove_all(directory);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  json read(int rank) const {
    std::ifstream file(directory / ("distlab_rank" + std::to_string(rank) + ".json"));
    return file ? json::parse(file) : json();
  }
  std::filesystem::path directory;
};

TEST_F(Dumps, WrittenOnATimeout) {
  const ScopedEnv dump_dir("DIST_DUMP_DIR", directory.string());
  run_ranks(
      2,
      [](int rank) {
        Tensor t = zeros({4});
        all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
        if (rank == 0) expect_error(Errc::timeout, {}, [&] { recv(t, 1, {.timeout = 100ms}); });
        barrier();
      },
      test::finds({check::Code::deadlock}));
  const json dumped = read(0);
  ASSERT_TRUE(dumped.is_object());
  EXPECT_EQ(dumped["reason"], "timeout");
  std::vector<std::string> states;
  for (const auto& record : dumped["records"]) {
    states.push_back(record["operation"].get<std::string>() + " " + record["state"].get<std::string>());
  }
  EXPECT_EQ(states, (std::vector<std::string>{"init_process_group completed", "all_reduce completed",
                                              "recv failed"}));
  EXPECT_EQ(dumped["records"][1]["algorithm"], "ring");
  EXPECT_EQ(dumped["records"][2]["peer"], 1);
  EXPECT_FALSE(std::filesystem::exists(directory / "distlab_rank1.json")) << "nothing failed there";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    EXPECT_EQ(entry.path().extension(), ".json") << "nothing unfinished is left";
  }
}

TEST_F(Dumps, WrittenOnASignal) {
  REAL_RANKS_ONLY("signals come to a process, which all virtual ranks share");
  const ScopedEnv dump_dir("DIST_DUMP_DIR", directory.string());
  run_ranks(2, [&](int rank) {
    barrier();
    if (rank == 0) {
      kill(getpid(), SIGUSR1);
      const auto deadline = Clock::now() + 10s;
      while (read(1).is_null() && Clock::now() < deadline) dist::sleep(5ms);
    }
    barrier();
  });
  for (const int rank : {0, 1}) {
    const json dumped = read(rank);
    ASSERT_TRUE(dumped.is_object()) << rank;
    EXPECT_EQ(dumped["reason"], "SIGUSR1");
    EXPECT_EQ(dumped["rank"], rank);
  }
}

TEST(FlightRecorder, TheRingsSizeIsASetting) {
  const ScopedEnv size("DIST_FLIGHT_RECORDER_SIZE", "1");
  run_ranks(2, [](int) {
    Tensor t = zeros({4});
    for (int i = 0; i < 3; ++i) all_reduce(t);
  });
}

}  // namespace
}  // namespace dist
