// Collecting, merging, files.
#include "dist/trace/recorder.h"

#include <cstdio>
#include <thread>

#include "same_trace.h"
#include "support/expect_error.h"
#include "traces.h"

namespace dist::test {
namespace {

using trace::Kind;
using trace::Trace;

TEST(Recorder, GivesEventsInTheOrderTheyEnded) {
  trace::Recorder recorder("run", 2, true);
  for (const std::int64_t end : {30, 10, 20}) recorder.add(event(Kind::wait, 1, 0, end));
  const Trace trace = recorder.take();
  expect_same(trace,
              {"run",
               2,
               true,
               {event(Kind::wait, 1, 0, 10), event(Kind::wait, 1, 0, 20), event(Kind::wait, 1, 0, 30)}});
}

TEST(Recorder, IsEmptyOnceTaken) {
  trace::Recorder recorder;
  recorder.add(event(Kind::wait, 4, 0, 1));
  EXPECT_EQ(recorder.take().ranks, 5);
  expect_same(recorder.take(), {});
}

TEST(Recorder, TakesEventsOfManyThreads) {
  trace::Recorder recorder;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 4; ++rank) {
      threads.emplace_back([&recorder, rank] {
        for (int i = 0; i < 1000; ++i) recorder.add(event(Kind::wait, rank, i, i + 1));
      });
    }
  }
  EXPECT_EQ(recorder.take().events.size(), 4000u);
}

TEST(Recorder, CountsWhatItDoesNotKeep) {
  trace::Recorder recorder("run", 1, false, 2);
  for (int i = 0; i < 5; ++i) recorder.add(event(Kind::wait, 0, i, i + 1));
  const Trace trace = recorder.take();
  EXPECT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.title, "run (the first 2 events; 3 more)");
  EXPECT_EQ(recorder.take().title, "run");
}

TEST(Merge, KeepsWhatEventsAreMissing) {
  const Trace merged =
      trace::merge({{"run", 3, false, {}}, {"run (3 more)", 3, false, {}}, {"other", 3, false, {}}});
  EXPECT_EQ(merged.title, "run (3 more)");
}

TEST(Merge, MakesOneTraceOfTheRanksOwn) {
  const Trace whole = exchange();
  std::vector<Trace> parts{{"", 1, true, {}}, {whole.title, 2, true, {}}};
  for (const auto& event : whole.events) parts[static_cast<std::size_t>(event.rank)].events.push_back(event);
  const Trace merged = trace::merge(parts);
  EXPECT_EQ(merged.title, whole.title);
  EXPECT_EQ(merged.ranks, 2);
  ASSERT_EQ(merged.events.size(), whole.events.size());
  for (std::size_t i = 1; i < merged.events.size(); ++i)
    EXPECT_LE(merged.events[i - 1].end, merged.events[i].end) << i;
}

TEST(Merge, KeepsNodesAndFindings) {
  const Trace merged = trace::merge({{"swap, 2 ranks", 2, true}, swap_that_deadlocks()});
  EXPECT_EQ(merged.ranks_per_node, 8);
  ASSERT_EQ(merged.findings.size(), 1u);
  EXPECT_EQ(merged.findings[0].code, "D1");
}

TEST(Merge, OfNothingIsEmpty) { expect_same(trace::merge({}), {}); }

TEST(Merge, RefusesTwoClocks) {
  EXPECT_DIST_ERROR(trace::merge({{"", 1, true, {}}, {"", 1, false, {}}}), Errc::invalid_argument,
                    "no common clock");
}

TEST(TraceFile, IsReadAsItWasWritten) {
  const std::string path = testing::TempDir() + "distlab_trace_test.json";
  trace::write_file(exchange(), path);
  expect_same(trace::read_file(path), exchange());
  std::remove(path.c_str());
}

TEST(TraceFile, ErrorsNameThePathAndTheReason) {
  const std::string path = testing::TempDir() + "no such folder/trace.json";
  expect_error(Errc::resource, {path, "No such file or directory"}, [&] { trace::read_file(path); });
  expect_error(Errc::resource, {path, "there is no folder"}, [&] { trace::write_file({}, path); });
  expect_error(Errc::resource, {"/", "Is a directory"}, [&] { trace::read_file("/"); });
  expect_error(Errc::invalid_argument, {"/dev/zero is a device"}, [&] { trace::read_file("/dev/zero"); });
  expect_error(Errc::resource, {"/dev/full", "No space left"}, [&] { trace::write_file({}, "/dev/full"); });
}

}  // namespace
}  // namespace dist::test
