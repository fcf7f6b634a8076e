// Children of the command line, and the signals that end it.
#include "distlab/process.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "distlab/temporary_folder.h"

namespace distlab::test {
namespace {

using namespace std::chrono_literals;

// A process that runs `command` from a folder of its own; how it ended, after `signal` came while the command
// ran.
struct Ended {
  int status = 0;
  bool folder_is_gone = false;
};

Ended end_by(int signal, const std::string& command) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(signal, SIG_DFL);
    int by = 0;
    try {
      const TemporaryFolder folder("test");
      const std::string path = folder.path();
      if (write(ready[1], path.c_str(), path.size() + 1) < 0) _exit(2);
      run_captured({"sh", "-c", "cd " + path + "; : > begun; " + command});
    } catch (const Interrupted& interrupted) {
      by = interrupted.signal;
    }
    _exit(by == signal ? 77 : 1);
  }
  std::string path(200, '\0');
  EXPECT_GT(read(ready[0], path.data(), path.size()), 0);
  path.resize(path.find('\0'));
  while (!std::filesystem::exists(path + "/begun")) std::this_thread::sleep_for(5ms);
  kill(child, signal);
  Ended ended;
  waitpid(child, &ended.status, 0);
  ended.folder_is_gone = !std::filesystem::exists(path);
  close(ready[0]), close(ready[1]);
  return ended;
}

class AnEndingSignal : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, AnEndingSignal, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(AnEndingSignal, GoesToTheChildFirst) {
  const auto start = std::chrono::steady_clock::now();
  const Ended ended = end_by(GetParam(), "exec sleep 60");
  EXPECT_EQ(WEXITSTATUS(ended.status), 77);
  EXPECT_TRUE(ended.folder_is_gone);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
}

TEST_P(AnEndingSignal, WaitsForWhatTheChildDoesAboutIt) {
  const Ended ended = end_by(GetParam(), "trap 'exit 0' INT TERM HUP; while :; do sleep 0.05; done");
  EXPECT_EQ(WEXITSTATUS(ended.status), 77);
  EXPECT_TRUE(ended.folder_is_gone);
}

TEST(AProgramWithoutAReader, EndsUsToo) {
  try {
    run_in_foreground({"sh", "-c", "kill -PIPE $$"});
    FAIL() << "goes on";
  } catch (const Interrupted& by) {
    EXPECT_EQ(by.signal, SIGPIPE);
  }
}

TEST(AnIgnoredSignal, IsIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  std::thread sender([] {
    std::this_thread::sleep_for(50ms);
    kill(getpid(), SIGHUP);
  });
  EXPECT_EQ(run_captured({"sh", "-c", "sleep 0.2; echo done"}).output, "done\n");
  sender.join();
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace distlab::test
