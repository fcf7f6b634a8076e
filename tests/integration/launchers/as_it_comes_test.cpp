// distrun copes with whatever it was started with (ignored signals, closed descriptors, low limits), and what
// a shell or a kernel does to a job reaches the ranks.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "distrun_shell.h"

namespace {

using namespace dist_test;

struct Ignored {
  std::string name, trap;
  int number;
};
class IgnoredAtStart : public testing::TestWithParam<Ignored> {};
INSTANTIATE_TEST_SUITE_P(Signal, IgnoredAtStart,
                         testing::Values(Ignored{"hup", "HUP", SIGHUP}, Ignored{"int", "INT", SIGINT},
                                         Ignored{"quit", "QUIT", SIGQUIT}, Ignored{"term", "TERM", SIGTERM},
                                         Ignored{"usr1", "USR1", SIGUSR1}, Ignored{"tstp", "TSTP", SIGTSTP}),
                         [](const auto& one) { return one.param.name; });

// Ignores a signal from the start, as nohup does and a script's background job.
TEST_P(IgnoredAtStart, StaysIgnoredByDistrunAndByItsRanks) {
  Running running(
      {"bash", "-c",
       fmt::format("trap '' {0}; exec {1} --nproc-per-node 2 sh -c 'echo ready $RANK; kill -{0} $$; "
                   "sleep 0.3; echo end $RANK'",
                   GetParam().trap, DISTRUN)});
  ASSERT_TRUE(running.wait_for_output("ready 0") && running.wait_for_output("ready 1"));
  running.send_signal(GetParam().number);
  const Ran ran = running.wait(20);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "end 0") && contains(ran.out, "end 1")) << ran.out;
}

TEST(AsItComes, RanksAreHeardWhereSigchldIsIgnored) {
  const Ran ran =
      run_bash("trap '' CHLD; exec timeout -s KILL 10 $distrun --nproc-per-node 2 sh -c 'exit 3'");
  EXPECT_EQ(ran.code, 3) << ran.err;
}

TEST(AsItComes, AReaderThatLeavesIsAnErrorWhereSigpipeIsIgnored) {
  const Ran ran =
      run_bash("trap '' PIPE; { $distrun --nproc-per-node 2 yes; echo code $? >&2; } | head -n 1");
  EXPECT_EQ(ran.err, "distrun: standard output cannot be written: Broken pipe\ncode 1\n");
}

class Closed : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Streams, Closed,
                         testing::Values("<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&-", "<&- >&- 2>&-"));

TEST_P(Closed, StandardStreamsAreClosedAndNoMore) {
  const std::string folder = temporary_folder(), redirection = GetParam();
  const Ran ran =
      run_bash(fmt::format("timeout -s KILL 20 $distrun --nproc-per-node 2 sh -c 'cat; echo out; echo err "
                           ">&2; touch {}/$RANK; exit 0' {}",
                           folder, redirection));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(folder + "/0") && std::filesystem::exists(folder + "/1"));
  EXPECT_EQ(ran.out.empty(),
            contains(redirection, ">&- ") || redirection.ends_with(" >&-") || redirection == ">&-")
      << ran.out;
  EXPECT_EQ(ran.err.empty(), contains(redirection, "2>&-")) << ran.err;
  std::filesystem::remove_all(folder);
}

char state_of(pid_t pid) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid));
  const auto end = stat.rfind(") ");
  return end == std::string::npos ? '?' : stat[end + 2];
}

bool gets_state(pid_t pid, char state) {
  for (int i = 0; i < 500; ++i, usleep(10000))
    if (state_of(pid) == state) return true;
  return false;
}

// Skipped where the group of this process is an orphan (setsid): no shell could continue what stops there.
bool may_stop_here() {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGTSTP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  const bool has_stopped = WIFSTOPPED(status);
  if (has_stopped) kill(child, SIGKILL), waitpid(child, &status, 0);
  return has_stopped;
}

// Ctrl-Z and fg. The rank starts nothing after its pid is known: dash starts programs by vfork, and if the
// child is stopped before its exec, the shell waits for it in state D instead of being stopped itself.
TEST(AsItComes, StopsAndGoesOnTogetherWithItsRanks) {
  if (!may_stop_here()) GTEST_SKIP() << "the kernel stops nothing by SIGTSTP in an orphaned process group";
  Running running(shell({"--nproc-per-node", "1"},
                        "sleep 100 & trap 'echo goes on; kill $!; exit 0' CONT; echo pid:$$; wait"));
  ASSERT_TRUE(running.wait_for_output("\n"));
  const pid_t rank = std::atoi(running.out().c_str() + running.out().find("pid:") + 4);
  running.send_signal(SIGTSTP);
  EXPECT_TRUE(gets_state(running.pid(), 'T'));
  EXPECT_TRUE(gets_state(rank, 'T'));
  running.send_signal(SIGCONT);
  const Ran ran = running.wait(10);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "goes on")) << ran.out;
}

TEST(AsItComes, TooFewDescriptorsAreOneLine) {
  for (const int allowed : {8, 10, 14, 20}) {
    const Ran ran =
        run_bash(fmt::format("ulimit -n {}; timeout -s KILL 20 $distrun --nproc-per-node 3 true", allowed));
    EXPECT_EQ(ran.code, 1) << allowed;
    EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
    EXPECT_TRUE(contains(ran.err, "ulimit -n")) << ran.err;
  }
}

TEST(AsItComes, AFullDeviceForErrorsEndsNothing) {
  const Ran ran = run_bash("$distrun --nproc-per-node 2 sh -c 'echo out; echo err >&2' 2> /dev/full");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(lines_of(ran.out).size(), 2U) << ran.out;
}

// A control group with a memory limit, where this machine lets us make one.
class LimitedMemory : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [root, limit] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                      std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      folder_ = fmt::format("{}/distlab-test-{}", root, getpid());
      if (mkdir(folder_.c_str(), 0755) != 0) continue;
      if (std::ofstream(folder_ + "/" + limit) << "67108864" << std::flush) return;
      rmdir(folder_.c_str());
    }
    folder_.clear();
    GTEST_SKIP() << "no control group for memory can be made here";
  }
  void TearDown() override {
    for (int i = 0; i < 200 && !folder_.empty() && rmdir(folder_.c_str()) != 0; ++i) usleep(10000);
  }
  std::string folder_;
};

TEST_F(LimitedMemory, ARankThatWasKilledForItIsToldSo) {
  const Ran ran = run_bash(fmt::format(
      "echo $BASHPID > {}/cgroup.procs; $distrun --nproc-per-node 2 --grace-period 0.2 bash -c "
      "'[ $RANK = 0 ] && exec sleep 20; x=$(head -c 200000000 /dev/zero | tr \"\\\\0\" x); echo ${{#x}}'",
      folder_));
  EXPECT_EQ(ran.code, 128 + SIGKILL) << ran.err << ran.out;
  EXPECT_TRUE(contains(ran.err,
                       "rank 1 failed: killed by signal 9 (Killed), probably by the kernel's "
                       "out-of-memory killer: memory ran out (the limit of this control group is 64 MiB)"))
      << ran.err;
}

// An interactive shell on a terminal that is closed under it.
TEST(AsItComes, NohupOutlivesItsTerminal) {
  const std::string folder = temporary_folder(), out = folder + "/out";
  int terminal = -1;
  const pid_t bash = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (bash == 0) {
    execlp("bash", "bash", "--norc", "-i", nullptr);
    _exit(127);
  }
  const std::string line = fmt::format(
      "nohup {} --nproc-per-node 2 sh -c 'echo start; while [ -e {}/go ]; do sleep 0.05; done; echo end' > "
      "{} 2>&1 &\n",
      DISTRUN, folder, out);
  std::ofstream(folder + "/go") << "on";
  ASSERT_EQ(write(terminal, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  const auto has = [&](const std::string& text) {
    for (int i = 0; i < 1000; ++i, usleep(10000))
      if (contains(read_file(out), text)) return true;
    return false;
  };
  EXPECT_TRUE(has("[0] start") && has("[1] start"));
  close(terminal);
  waitpid(bash, nullptr, 0);
  std::filesystem::remove(folder + "/go");
  EXPECT_TRUE(has("[0] end") && has("[1] end")) << read_file(out);
  std::filesystem::remove_all(folder);
}

}  // namespace
