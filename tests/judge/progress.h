// Progress: how far an exam has come. Its tests run in a process of their own (watched_tests.h), so this is
// in memory that both share.
#pragma once

#include <array>
#include <chrono>

namespace judge {

inline constexpr int most_tests = 512;  // of one exam; the largest has some 40

struct Progress {
  int test = -1;             // the one that runs, by its place among all; -1: none
  int points = 0, part = 0;  // what it is worth
  std::array<bool, most_tests> has_ended{};
  int ended = 0;  // the number of tests that have ended
  bool is_complete = false;
  // What the runs have taken so far:
  int stopped_runs = 0;
  std::chrono::milliseconds beyond{0};  // the time that right answers take
};

Progress& progress();

}  // namespace judge
