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
  bool has_failed = false;  // one of those that have ended
  // A test whose run was stopped because it slept too long is tried again, alone, after all others: sleep is
  // measured on a clock.
  bool has_slept_too_long = false;  // the test that runs
  int to_be_repeated = 0;
  bool is_second_try = false;
  // What the runs have taken so far:
  int stopped_runs = 0;
  std::chrono::milliseconds beyond{0};  // the time that right answers take
};

Progress& progress();

inline constexpr int most_repeated = 2;
inline constexpr std::chrono::milliseconds most_beyond_to_repeat{20'000};
// Whether a test that has just failed is to be tried again.
inline bool is_to_be_repeated() {
  return progress().has_slept_too_long && !progress().is_second_try &&
         progress().to_be_repeated < most_repeated && progress().beyond < most_beyond_to_repeat;
}

}  // namespace judge
