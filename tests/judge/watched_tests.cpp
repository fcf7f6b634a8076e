#include "judge/watched_tests.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/progress.h"
#include "judge/trouble.h"

namespace judge {
namespace {

// Calls see(test, place) for all tests of this program, run or not.
template <class See>
void for_each_test(const See& see) {
  const auto& all = *testing::UnitTest::GetInstance();
  int place = 0;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const auto& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) see(*suite.GetTestInfo(k), place++);
  }
}

class Watched : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& started) override {
    progress().points = progress().part = 0;
    progress().has_slept_too_long = false;
    for_each_test([&](const testing::TestInfo& test, int place) {
      if (&test == &started) progress().test = place;
    });
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const auto place = static_cast<std::size_t>(std::exchange(progress().test, -1));
    if (test.result()->Failed() && is_to_be_repeated()) {
      ++progress().to_be_repeated;
      return;
    }
    progress().has_ended.at(place) = true;
    progress().has_failed = progress().has_failed || test.result()->Failed();
    ++progress().ended;
  }
  void OnTestProgramEnd(const testing::UnitTest&) override { progress().is_complete = true; }
};

// What is chosen, without the tests that have ended.
std::string what_is_left(const std::string& chosen) {
  std::string ended;
  for_each_test([&](const testing::TestInfo& test, int place) {
    if (progress().has_ended.at(static_cast<std::size_t>(place)))
      ended += fmt::format(":{}.{}", test.test_suite_name(), test.name());
  });
  if (ended.empty() || chosen.find('-') != chosen.npos) return chosen + ended;
  return chosen + "-" + ended.substr(1);
}

// The exit status of a process that runs what is left, as wait(2) tells.
int run_what_is_left(const std::string& chosen, const std::function<int()>& run_all) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) throw Trouble(fmt::format("no process for the tests: {}", std::strerror(errno)));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    GTEST_FLAG_SET(filter, what_is_left(chosen));
    testing::UnitTest::GetInstance()->listeners().Append(new Watched);
    std::exit(run_all());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Whether a program does that to itself, and no other process to it.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT;
}

void take_as_failed(int signal, const Broken& broken) {
  const int broke = std::exchange(progress().test, -1);
  for_each_test([&](const testing::TestInfo& test, int place) {
    if (place != broke) return;
    const auto how = fmt::format("signal {} ({})", signal, ::strsignal(signal));
    fmt::print("[  FAILED  ] {}.{} has ended its process by {}\n", test.test_suite_name(), test.name(), how);
    broken(test.test_suite_name(), test.name(), how);
  });
  progress().has_ended.at(static_cast<std::size_t>(broke)) = true;
  progress().has_failed = true;
  ++progress().ended;
}

}  // namespace

Progress& progress() {
  static Progress& shared = []() -> Progress& {
    void* const room =
        ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw Trouble(fmt::format("no shared memory: {}", std::strerror(errno)));
    return *new (room) Progress;
  }();
  return shared;
}

int run_watched_tests(const std::function<int()>& run_all, const Broken& broken) {
  const std::string chosen = GTEST_FLAG_GET(filter);
  if (testing::UnitTest::GetInstance()->total_test_count() > most_tests)
    throw Trouble(fmt::format("an exam has at most {} tests", most_tests));
  if (GTEST_FLAG_GET(list_tests)) return run_all();
  progress();  // before there are two processes
  while (true) {
    const int status = run_what_is_left(chosen, run_all);
    if (WIFEXITED(status) && progress().is_complete && progress().to_be_repeated > 0 &&
        !progress().is_second_try) {
      progress().is_second_try = true;
      progress().is_complete = false;
    } else if (WIFEXITED(status) && (WEXITSTATUS(status) > 1 || progress().is_complete)) {
      return std::max(WEXITSTATUS(status) > 1 ? WEXITSTATUS(status) : 0, progress().has_failed ? 1 : 0);
    } else if (!WIFSIGNALED(status) || !is_crash(WTERMSIG(status)) || progress().test < 0) {
      throw Trouble(WIFSIGNALED(status) ? fmt::format("the tests were ended by signal {}", WTERMSIG(status))
                                        : "the tests have ended before the last one");
    } else {
      take_as_failed(WTERMSIG(status), broken);
    }
  }
}

}  // namespace judge
