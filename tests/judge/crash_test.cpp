// Processes that crash, and what their authors are told. They are this very program (judge_test.cpp).
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "judge/outcome.h"
#include "judge/runner.h"
#include "judge/sim_run.h"
#include "judge/team.h"

namespace {

using judge::Json;

volatile int zero = 0;

int call_for_ever(int depth) {
  volatile int kept = depth;
  return (depth < zero ? 0 : call_for_ever(depth + 1)) + kept;
}

constexpr int index_line = __LINE__ + 1;
int element(const std::vector<int>& of, std::size_t i) { return of[i]; }

constexpr int first_line = __LINE__ + 1;
[[gnu::noipa]] int pointed_at_by(const int* p) { return *p; }  // its first instruction fails

}  // namespace

// What `task` names.
Json crash(const Json& task) {
  const std::string how = task.at("crash");
  const std::vector<int> three{1, 2, 3};
  if (how == "index") return element(three, 3);
  if (how == "division") return 7 / zero;
  if (how == "recursion") return call_for_ever(0);
  if (how == "first instruction") return pointed_at_by(nullptr);
  if (how == "null") {
    const int* volatile nothing = nullptr;
    return *nothing;
  }
  if (how == "abort") std::abort();
  if (how == "heap") {
    char* volatile block = static_cast<char*>(std::malloc(64));
    const volatile int inside = 16;  // unknown to the compiler, which would warn
    std::free(block + inside);
  }
  return judge::attempt([&]() -> Json {
    dist::init_process_group();
    auto four = dist::zeros({4});
    const auto elements = four.data<float>();
    if (how == "element of a tensor") return elements[static_cast<std::size_t>(zero) + 4];
    if (how == "far behind a tensor") return elements.data()[16];
    if (how == "a tensor that is gone") {
      four = {};
      return elements[0];
    }
    return nullptr;
  });
}

namespace {

std::string end_of(const std::string& how) {
  judge::Team team("/proc/self/exe", 1);
  team.start(0, {{"crash", how}});
  return team.finish().at(0).how_it_ended;
}

TEST(Crash, is_told_with_its_line_and_cause) {
  EXPECT_EQ(end_of("index"),
            "was ended by signal 6 (Aborted) at crash_test.cpp:" + std::to_string(index_line) +
                ": an index is out of range: [i] of a std::vector, or of a tensor's data(), that has no "
                "element i");
  const auto first = end_of("first instruction");
  EXPECT_NE(first.find("crash_test.cpp:" + std::to_string(first_line) + ":"), first.npos) << first;
  const std::pair<const char*, const char*> causes[] = {
      {"division", "signal 8 (Floating point exception) at crash_test.cpp:"},
      {"division", "an integer is divided by zero"},
      {"recursion", "the stack is used up: a function calls itself without end"},
      {"null", "a null pointer is used"},
      {"abort", "something called abort()"},
      {"heap", "crash_test.cpp:"},
      {"heap", "the heap is broken"}};
  for (const auto& [how, told] : causes) {
    const auto said = end_of(how);
    EXPECT_NE(said.find(told), said.npos) << how << ": " << said;
  }
}

TEST(Crash, of_one_rank_among_others) {
  const std::string foreign = "memory is used that does not belong to it";
  const std::pair<const char*, std::string> causes[] = {{"element of a tensor", "an index is out of range"},
                                                        {"far behind a tensor", foreign},
                                                        {"a tensor that is gone", foreign}};
  for (const auto& [how, told] : causes) {
    const auto done =
        judge::simulate({.tasks = {{{"crash", "none"}}, {{"crash", how}}}, .program = "/proc/self/exe"});
    EXPECT_TRUE(done.ranks[0].completed) << done.ranks[0].how_it_ended;
    const auto& said = done.ranks[1].how_it_ended;
    EXPECT_NE(said.find("crash_test.cpp:"), said.npos) << how << ": " << said;
    EXPECT_NE(said.find(told), said.npos) << how << ": " << said;
  }
}

}  // namespace
