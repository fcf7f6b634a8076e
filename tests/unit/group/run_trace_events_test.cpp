// What the traces of real ranks hold.
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"
#include "dist/trace/chrome_json.h"

#include "run_traces.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;
using trace::Event;
using trace::Kind;
using trace::Trace;

std::vector<Event> named(std::vector<Event> events, const std::string& name) {
  std::erase_if(events, [&](const Event& event) { return event.name != name; });
  return events;
}

// What is true of every complete run: each message has two ends that agree, each event has its time, and each
// message of a collective has its call.
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

TEST(RunTrace, ACallInSharedMemoryIsMarkedAndHasNoMessages) {
  const Trace trace = traced(3, [](int) {
    Tensor t = ones({64});
    all_reduce(t);  // the first collective: only when it starts is it known that the ranks map each other
    broadcast(t, 0);
    all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
  });
  std::vector<std::string> calls;
  for (const Event& call : of_kind(trace, Kind::call)) {
    if (call.rank == 0) calls.push_back(call.algorithm + (call.in_shared_memory ? ", shared" : ""));
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"one_shot, shared", "direct, shared", "ring"}));
  for (const Event& send : of_kind(trace, Kind::send)) EXPECT_EQ(send.algorithm, "ring");
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
    EXPECT_TRUE(call.where.str().starts_with("run_trace_events_test.cpp:")) << call.where.str();
  }
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
  expect_nested_slices(trace);
}

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
    Tensor t = ones({1000}), u = ones({1000}), token = zeros({1});
    if (rank == 1) recv(token, 0);
    if (rank == 1) sleep(100ms);
    Work first = all_reduce(t, ReduceOp::sum, {.async_op = true});
    Work second = all_reduce(u, ReduceOp::sum, {.async_op = true});
    if (rank == 0) send(token, 1);
    first.wait();
    second.wait();
  });
  expect_sound(trace);
  expect_calls_hold_their_messages(trace);
  expect_nested_slices(trace);
  for (const Event& call : named(of_kind(trace, Kind::call), "all_reduce")) {
    if (call.rank == 1) continue;
    EXPECT_GE(call.end - call.begin, 100'000'000'000) << "rank 1 came 100 ms after both were issued";
  }
  const auto waits = named(of_kind(trace, Kind::wait), "all_reduce");
  const bool waited = std::ranges::any_of(waits, [](const Event& wait) {
    return wait.rank == 0 && wait.algorithm.empty() && wait.sequence == 0;
  });
  EXPECT_TRUE(waited) << "in Work::wait()";
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
    // They are waited for in an order other than that of posting.
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
      for (int i = 0; i < (rank == 2 ? 4 : 3); ++i) send(t, 0);
      return;
    }
    std::vector<Tensor> places;
    std::vector<Work> works;
    for (int i = 0; i < 3; ++i) works.push_back(irecv(places.emplace_back(zeros({8}))));
    works.push_back(irecv(places.emplace_back(zeros({8})), 2));
    for (auto work = works.rbegin(); work != works.rend(); ++work) work->wait();
    for (int i = 0; i < 6; ++i) recv(in);
  });
  EXPECT_EQ(of_kind(trace, Kind::receive).size(), 10u);
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
  const auto receives = named(of_kind(trace, Kind::call), "recv");
  ASSERT_EQ(receives.size(), 2u);
  EXPECT_EQ(receives[0].ending, trace::Ending::failed);
  EXPECT_EQ(receives[1].ending, trace::Ending::done);
  EXPECT_EQ(named(of_kind(trace, Kind::receive), "recv").size(), 1u);
}

}  // namespace
}  // namespace dist::test
