// Traces of real ranks: DIST_TRACE.
#include "dist/group/run_trace.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "dist/dist.h"
#include "dist/group/settings.h"
#include "dist/trace/chrome_json.h"
#include "dist/trace/parts.h"
#include "dist/trace/recorder.h"

#include "support/expect_error.h"
#include "support/thread_ranks.h"

namespace dist::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using trace::Event;
using trace::Kind;
using trace::Trace;

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "distlab-trace-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

// The merged trace of n ranks.
Trace traced(int n, const std::function<void(int)>& fn) {
  const Folder folder;
  const std::string file = folder.file("trace.json");
  const ScopedEnv variable("DIST_TRACE", file);
  run_ranks(n, fn);
  std::vector<Trace> parts;
  for (int rank = 0; rank < n; ++rank) parts.push_back(trace::read_file(trace::part_path(file, rank, n)));
  return trace::merge(std::move(parts));
}

std::vector<Event> of_kind(const Trace& trace, Kind kind) {
  std::vector<Event> found;
  std::ranges::copy_if(trace.events, std::back_inserter(found),
                       [&](const Event& event) { return event.kind == kind; });
  return found;
}

std::vector<Event> named(std::vector<Event> events, const std::string& name) {
  std::erase_if(events, [&](const Event& event) { return event.name != name; });
  return events;
}

// What holds of every whole run: each message has two ends that agree, each event its time, each message of a
// collective its call.
void expect_sound(const Trace& trace) {
  std::map<std::uint64_t, Event> sends;
  for (const Event& event : trace.events) {
    EXPECT_GE(event.begin, 0);
    EXPECT_LE(event.begin, event.end);
  }
  for (const Event& send : of_kind(trace, Kind::send))
    EXPECT_TRUE(sends.emplace(send.message, send).second) << "two sends have one number";
  const auto receives = of_kind(trace, Kind::receive);
  EXPECT_EQ(receives.size(), sends.size());
  for (const Event& receive : receives) {
    const auto found = sends.find(receive.message);
    ASSERT_NE(found, sends.end()) << "rank " << receive.rank << " of " << receive.peer;
    const Event& send = found->second;
    EXPECT_EQ(send.rank, receive.peer);
    EXPECT_EQ(send.peer, receive.rank);
    EXPECT_EQ(send.bytes, receive.bytes);
    EXPECT_EQ(send.group, receive.group);
    EXPECT_LE(send.begin, receive.end);
    EXPECT_EQ(receive.contributors, 0u) << "unknown";
    sends.erase(found);
  }
}

void expect_calls_hold_their_messages(const Trace& trace) {
  const auto calls = of_kind(trace, Kind::call);
  for (const Event& event : trace.events) {
    if (event.kind != Kind::send && event.kind != Kind::receive && event.kind != Kind::reduce) continue;
    const auto holds = [&](const Event& call) {
      return call.rank == event.rank && call.group == event.group && call.sequence == event.sequence &&
             call.name == event.name && call.begin <= event.begin && event.end <= call.end;
    };
    EXPECT_TRUE(std::ranges::any_of(calls, holds))
        << trace::to_chrome_json({"", trace.ranks, false, {event}});
  }
}

// Slices of one thread of the viewer nest or are disjoint.
void expect_nested_slices(const Trace& trace) {
  struct Slice {
    std::int64_t begin, end;
  };
  std::map<int, std::vector<Slice>> threads;
  const auto file = nlohmann::json::parse(trace::to_chrome_json(trace));
  for (const auto& line : file.at("traceEvents")) {
    if (line.at("ph") != "X") continue;
    const auto& args = line.at("args");
    threads[line.at("tid").get<int>()].push_back({args.at("begin_ps"), args.at("end_ps")});
  }
  ASSERT_FALSE(threads.empty());
  for (auto& [thread, slices] : threads) {
    std::ranges::sort(slices, {}, [](const Slice& s) { return std::pair(s.begin, -s.end); });
    std::vector<Slice> open;
    for (const Slice& slice : slices) {
      while (!open.empty() && open.back().end <= slice.begin) open.pop_back();
      EXPECT_TRUE(open.empty() || slice.end <= open.back().end) << "thread " << thread;
      open.push_back(slice);
    }
  }
}

TEST(RunTrace, OfARingHasItsMessagesAndReductions) {
  constexpr int n = 4;
  const Trace trace = traced(n, [](int) {
    Tensor t = ones({64});
    all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
  });
  EXPECT_EQ(trace.ranks, n);
  EXPECT_FALSE(trace.virtual_time);
  EXPECT_EQ(of_kind(trace, Kind::send).size(), n * 2u * (n - 1));
  const auto reductions = of_kind(trace, Kind::reduce);
  EXPECT_EQ(reductions.size(), n * (n - 1u));
  for (const Event& reduction : reductions) {
    EXPECT_EQ(reduction.bytes, 64u);
    EXPECT_EQ(reduction.offset % 64, 0) << "a quarter of 256 bytes";
  }
  const auto calls = of_kind(trace, Kind::call);
  ASSERT_EQ(calls.size(), std::size_t{n});
  for (const Event& call : calls) {
    EXPECT_EQ(call.name, "all_reduce");
    EXPECT_EQ(call.algorithm, "ring");
    EXPECT_EQ(call.bytes, 256u);
    EXPECT_EQ(call.where.str().substr(0, 15), "run_trace_test.");
  }
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
  expect_nested_slices(trace);
}

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

TEST(RunTrace, OfEveryCollectiveIsSound) {
  constexpr int n = 5;
  const Trace trace = traced(n, [](int rank) {
    Tensor t = full({1000}, rank), whole = zeros({5000}), part = zeros({1000});
    all_reduce(t);
    broadcast(t, 2);
    reduce(t, 1);
    all_gather_into_tensor(whole, t);
    reduce_scatter_tensor(part, whole);
    all_to_all_single(whole, whole.clone());
    barrier();
    const auto pair = new_group({0, 3});
    if (rank == 0 || rank == 3) all_reduce(t, ReduceOp::sum, {.group = pair});
    monitored_barrier(10s);
  });
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
  expect_nested_slices(trace);
  EXPECT_EQ(named(of_kind(trace, Kind::call), "new_group").size(), std::size_t{n});
  EXPECT_EQ(named(of_kind(trace, Kind::call), "all_reduce").size(), n + 2u);
  EXPECT_EQ(named(of_kind(trace, Kind::send), "monitored_barrier").size(), 2u * (n - 1));
}

TEST(RunTrace, AsynchronousCallsLastUntilTheyEnded) {
  const Trace trace = traced(2, [](int rank) {
    Tensor t = ones({1000}), u = ones({1000});
    if (rank == 1) sleep(20ms);
    Work first = all_reduce(t, ReduceOp::sum, {.async_op = true});
    Work second = all_reduce(u, ReduceOp::sum, {.async_op = true});
    first.wait();
    second.wait();
  });
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
  expect_nested_slices(trace);
  for (const Event& call : of_kind(trace, Kind::call)) {
    if (call.rank == 1) continue;
    EXPECT_GE(call.end - call.begin, 10'000'000'000) << "rank 1 came 20 ms later";
  }
  const auto waits = of_kind(trace, Kind::wait);
  const bool waited = std::ranges::any_of(waits, [](const Event& wait) {
    return wait.rank == 0 && wait.sequence == 0 && wait.end - wait.begin >= 10'000'000'000;
  });
  EXPECT_TRUE(waited);
}

TEST(RunTrace, PointToPointMessagesMeet) {
  const Trace trace = traced(3, [](int rank) {
    Tensor small = full({1}, rank), large = full({100'000}, rank), other = zeros({100'000});
    const int next = (rank + 1) % 3, last = (rank + 2) % 3;
    for (int i = 0; i < 3; ++i) {
      Work out = isend(large, next);
      recv(other, last);
      out.wait();
    }
    // Waited for in another order than posted.
    Tensor a = zeros({1}), b = zeros({2}), two = ones({2});
    Work first = irecv(a, last), second = irecv(b, last);
    Work out_1 = isend(small, next), out_2 = isend(two, next);
    second.wait();
    first.wait();
    out_1.wait();
    out_2.wait();
    // Tags of their own.
    Work in = irecv(a, last, {.tag = 7});
    send(small, next, {.tag = 7});
    in.wait();
  });
  EXPECT_EQ(of_kind(trace, Kind::send).size(), 3u * 6);
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
  expect_nested_slices(trace);
}

TEST(RunTrace, AReceiveFromAnyRankKnowsItsSource) {
  constexpr int n = 4;
  const Trace trace = traced(n, [](int rank) {
    Tensor t = full({8}, rank), in = zeros({8});
    if (rank > 0) {
      for (int i = 0; i < 3; ++i) send(t, 0);
      return;
    }
    std::vector<Tensor> places;
    std::vector<Work> works;
    for (int i = 0; i < 3; ++i) works.push_back(irecv(places.emplace_back(zeros({8}))));
    works.push_back(irecv(places.emplace_back(zeros({8})), 2));
    for (auto work = works.rbegin(); work != works.rend(); ++work) work->wait();
    for (int i = 0; i < 5; ++i) recv(in);
  });
  EXPECT_EQ(of_kind(trace, Kind::receive).size(), 9u);
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
}

TEST(RunTrace, ThreadsOfARankAreAllWrittenDown) {
  const Trace trace = traced(2, [](int rank) {
    RankContext& context = rank_context();
    std::vector<std::jthread> threads;
    for (int tag = 0; tag < 4; ++tag) {
      threads.emplace_back([&context, rank, tag] {
        const RankContextGuard guard(context);
        Tensor t = full({100}, tag);
        for (int i = 0; i < 20; ++i)
          rank == 0 ? void(send(t, 1, {.tag = std::uint64_t(tag)}))
                    : void(recv(t, 0, {.tag = std::uint64_t(tag)}));
      });
    }
  });
  EXPECT_EQ(of_kind(trace, Kind::send).size(), 80u);
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
}

TEST(RunTrace, AReceiveThatTimedOutIsNotCounted) {
  const Trace trace = traced(2, [](int rank) {
    Tensor t = full({8}, rank);
    if (rank == 0) expect_error(Errc::timeout, {}, [&] { recv(t, 1, {.timeout = 20ms}); });
    barrier();
    rank == 0 ? void(recv(t, 1)) : void(send(t, 0));
  });
  expect_sound(trace);
  EXPECT_EQ(named(of_kind(trace, Kind::call), "recv").size(), 2u);
  EXPECT_EQ(named(of_kind(trace, Kind::receive), "recv").size(), 1u);
}

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
  EXPECT_EQ(of_kind(trace, Kind::call).size(), 5u) << "those that failed are there, too";
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
  for (const std::string part : {"trace.rank0.json", "trace.rank1.json", "No such file or directory"})
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
