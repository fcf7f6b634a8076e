// Snapshot: a rank's answer to the question what it is doing, in words and as data.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "dist/group/diagnosis/flight_dump.h"

namespace dist {

// The name of a group that all its members agree on: groups with equal context numbers have no common member.
struct GroupKey {
  std::uint32_t context = 0;
  int first = 0;  // global rank of group rank 0
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

// An operation that is under way, or that has failed.
struct SnapshotCall {
  std::uint64_t record = 0;  // its entry in the flight recorder
  std::string name, doing;   // "send", "send #0 (4 f32)"
  CallSite where;
  CallFamily family = CallFamily::collective;
  bool blocks = false;  // the rank blocks until it has ended
  bool failed = false;
  std::chrono::milliseconds age{};
  GroupKey group;
  std::vector<int> members;  // the group's global ranks
  std::uint64_t sequence = 0, tag = 0, bytes = 0;
  int peer = -1;           // for a message; -1: any rank
  std::string group_name;  // "group 1"; empty: the default group

  bool is_open() const { return !failed; }
  bool is_message() const { return family == CallFamily::message; }
  bool is_send() const { return is_message() && name == "send"; }
};

// How many calls of a family this rank has begun in a group.
struct Begun {
  GroupKey group;
  CallFamily family;
  std::uint64_t calls;
};

struct Snapshot {
  enum class State : std::uint8_t { present, left, failed, silent };
  int rank = 0;
  State state = State::silent;
  std::string activity;             // "in all_reduce #7 (4 f32) at train.cpp:41"
  double activity_s = 0;            // seconds since it began
  bool is_complete = false;         // `calls` has all open calls, `begun` all that were begun
  std::vector<SnapshotCall> calls;  // in the order they were begun
  std::vector<Begun> begun;

  const SnapshotCall* find(std::uint64_t record) const;
};

Snapshot take_snapshot(const FlightLog& log);
std::string encode(const Snapshot& snapshot);
Snapshot decode_snapshot(const std::string& text);  // Error{internal} when it is damaged

}  // namespace dist
