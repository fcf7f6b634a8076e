// Traces written by hand.
#pragma once

#include <string>
#include <utility>

#include "dist/trace/event.h"

namespace dist::test {

constexpr std::int64_t microsecond = 1'000'000;  // ps

inline trace::Event event(trace::Kind kind, int rank, std::int64_t begin, std::int64_t end) {
  trace::Event event;
  event.kind = kind;
  event.rank = rank;
  event.begin = begin;
  event.end = end;
  return event;
}

inline trace::Event call(int rank, const std::string& name, std::int64_t begin, std::int64_t end) {
  trace::Event made = event(trace::Kind::call, rank, begin, end);
  made.name = name;
  made.where = {"labs/train.cpp", 41};
  return made;
}

// A send or a receive of `bytes` bytes.
inline trace::Event part(trace::Kind kind, int rank, int peer, std::uint64_t message, std::int64_t begin,
                         std::int64_t end, std::uint64_t bytes = 4096) {
  trace::Event made = event(kind, rank, begin, end);
  made.peer = peer;
  made.message = message;
  made.bytes = bytes;
  return made;
}

// Both ranks send the other 4 KiB, which takes 2.5 us, and add what arrives, which takes 0.5 us.
inline trace::Trace exchange() {
  trace::Trace trace{"exchange, 2 ranks", 2, true, {}};
  const std::int64_t arrived = 5 * microsecond / 2, end = 3 * microsecond;
  for (int rank = 0; rank < 2; ++rank) {
    const auto sent = static_cast<std::uint64_t>(rank + 1), received = static_cast<std::uint64_t>(2 - rank);
    auto send = part(trace::Kind::send, rank, 1 - rank, sent, 0, microsecond);
    send.contributors = std::uint64_t{1} << rank;
    send.offset = 4096 * rank;
    trace.events.push_back(std::move(send));
    trace.events.push_back(part(trace::Kind::receive, rank, 1 - rank, received, 0, arrived));
    trace.events.push_back(event(trace::Kind::wait, rank, 0, arrived));
    auto reduction = event(trace::Kind::reduce, rank, arrived, end);
    reduction.bytes = 4096;
    reduction.contributors = 0b11;
    trace.events.push_back(reduction);
    auto all = call(rank, "all_reduce", 0, end);
    all.algorithm = "ring";
    all.bytes = 8192;
    trace.events.push_back(all);
  }
  return trace;
}

// Both ranks sum in each other's memory, which takes 3 us.
inline trace::Trace shared_sum() {
  trace::Trace trace{"shared sum, 2 ranks", 2, false, {}};
  for (int rank = 0; rank < 2; ++rank) {
    auto all = call(rank, "all_reduce", 0, 3 * microsecond);
    all.algorithm = "two_shot";
    all.in_shared_memory = true;
    trace.events.push_back(std::move(all));
  }
  return trace;
}

// Both ranks send first, and so wait for each other.
inline trace::Trace swap_that_deadlocks() {
  trace::Trace trace{"swap, 2 ranks", 2, true, {call(0, "send", 0, 1), call(1, "send", 0, 1)}};
  trace.ranks_per_node = 8;
  trace.findings.push_back(
      {"D1", "deadlock", "ranks 0 and 1 wait for each other", "let one of them receive first", {}});
  for (int rank = 0; rank < 2; ++rank)
    trace.findings[0].parties.push_back(
        {rank, "send to \"" + std::to_string(1 - rank) + "\"", {"labs/train.cpp", 41}, {1 - rank}});
  return trace;
}

}  // namespace dist::test
