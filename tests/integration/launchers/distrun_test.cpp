// distrun as a user meets it: environment, output, failures, signals, restarts, and nothing left behind.
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "distrun_shell.h"

namespace {

using namespace dist_test;

// Process ids that ranks print as "pid:<number>".
std::vector<pid_t> pids_in(const std::string& text) {
  std::vector<pid_t> result;
  for (std::size_t at = 0; (at = text.find("pid:", at)) != std::string::npos; at += 4) {
    result.push_back(std::atoi(text.c_str() + at + 4));
  }
  return result;
}

TEST(Distrun, RanksSeeTorchrunsEnvironment) {
  const Ran ran = run_shell({"--nproc-per-node", "2", "--no-prefix", "--rdzv-id", "job7", "--role", "trainer",
                             "--max-restarts", "3", "--master-port", "45678"},
                            "if [ $RANK = 1 ]; then env; fi", {"OMP_NUM_THREADS"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::map<std::string, std::string> seen;
  for (const auto& line : lines_of(ran.out))
    seen[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  const std::map<std::string, std::string> expected{{"RANK", "1"},
                                                    {"WORLD_SIZE", "2"},
                                                    {"LOCAL_RANK", "1"},
                                                    {"LOCAL_WORLD_SIZE", "2"},
                                                    {"GROUP_RANK", "0"},
                                                    {"GROUP_WORLD_SIZE", "1"},
                                                    {"ROLE_RANK", "1"},
                                                    {"ROLE_NAME", "trainer"},
                                                    {"ROLE_WORLD_SIZE", "2"},
                                                    {"MASTER_ADDR", "127.0.0.1"},
                                                    {"MASTER_PORT", "45678"},
                                                    {"TORCHELASTIC_RESTART_COUNT", "0"},
                                                    {"TORCHELASTIC_MAX_RESTARTS", "3"},
                                                    {"TORCHELASTIC_RUN_ID", "job7"},
                                                    {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                                                    {"OMP_NUM_THREADS", "1"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(seen[name], value) << name;
  EXPECT_TRUE(seen["DIST_STORE"].starts_with("tcp://127.0.0.1:")) << seen["DIST_STORE"];
  EXPECT_GE(seen["DIST_JOB_TOKEN"].size(), 32U);
}

TEST(Distrun, ThreadsPerRankAreSaidOnceAndOnlyWhenSet) {
  Ran ran = run_shell({"--nproc-per-node", "3"}, "echo threads $OMP_NUM_THREADS", {"OMP_NUM_THREADS"});
  EXPECT_EQ(line_with(ran.out, "threads 1"), 0);
  EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
  ran = run_shell({"--nproc-per-node", "3"}, "echo threads $OMP_NUM_THREADS", {"OMP_NUM_THREADS=5"});
  EXPECT_EQ(line_with(ran.out, "threads 5"), 0);
  EXPECT_EQ(ran.err, "");
}

TEST(Distrun, LinesStayWholeAndInOrder) {
  const Ran ran = run_shell(
      {"--nproc-per-node", "4"},
      "i=0; while [ $i -lt 300 ]; do printf \"rank $RANK \"; printf \"line $i\\n\"; i=$((i+1)); done; "
      "printf 'no newline'");
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::map<char, int> next;
  int last_words = 0;
  for (const auto& line : lines_of(ran.out)) {
    ASSERT_EQ(line.substr(0, 1), "[") << line;
    const char rank = line.at(1);
    if (contains(line, "no newline")) {
      EXPECT_EQ(line.substr(1), fmt::format("{}] no newline", rank));
      ++last_words;
    } else {
      EXPECT_EQ(line.substr(1), fmt::format("{}] rank {} line {}", rank, rank, next[rank]++));
    }
  }
  EXPECT_EQ(last_words, 4);
  for (const char rank : {'0', '1', '2', '3'}) EXPECT_EQ(next[rank], 300) << rank;
}

TEST(Distrun, StreamsStayApart) {
  const Ran ran = run_shell({"--nproc-per-node", "1"}, "echo to stdout; echo to stderr >&2");
  EXPECT_EQ(ran.out, "[0] to stdout\n");
  EXPECT_EQ(ran.err, "[0] to stderr\n");
}

TEST(Distrun, MegabytesPassUnharmed) {
  const Ran ran = run_shell({"--nproc-per-node", "2", "--no-prefix"},
                            "head -c 3000000 /dev/zero | tr '\\0' \"$RANK\"; echo");
  ASSERT_EQ(ran.code, 0);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '0'), 3000000);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '1'), 3000000);
}

// On a terminal ranks have one too, so that C programs show each line at once, even when they hang
// afterwards.
TEST(Distrun, OnATerminalRanksHaveOneToo) {
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    unsetenv("NO_COLOR");
    execl(DISTRUN, DISTRUN, "--nproc-per-node", "2", "sh", "-c", "test -t 1 && printf 'terminal %d\\n' $RANK",
          nullptr);
    _exit(127);
  }
  const dist::UniqueFd owner(terminal);
  std::string shown;
  char piece[4096];
  for (ssize_t n; (n = read(terminal, piece, sizeof piece)) > 0;)
    shown.append(piece, static_cast<std::size_t>(n));
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0) << shown;
  for (const char* line : {"[0]\x1b[0m terminal 0\r\n", "[1]\x1b[0m terminal 1\r\n"}) {
    EXPECT_TRUE(contains(shown, line)) << shown;
  }
}

TEST(Distrun, LogFilesAsTorchrunNamesThem) {
  const std::string folder = temporary_folder();
  const Ran ran =
      run_shell({"--nproc-per-node", "2", "--log-dir", folder, "--rdzv-id", "j", "-r", "1:1", "-t", "2"},
                "echo out $RANK; echo err $RANK >&2; echo $TORCHELASTIC_ERROR_FILE >&2");
  EXPECT_EQ(ran.out, "[0] out 0\n");  // rank 1's went to the file only
  EXPECT_TRUE(contains(ran.err, "[0] err 0") && contains(ran.err, "[1] err 1")) << ran.err;
  EXPECT_TRUE(contains(ran.err, folder + "/j/attempt_0/1/error.json")) << ran.err;
  EXPECT_EQ(read_file(folder + "/j/attempt_0/1/stdout.log"), "out 1\n");
  EXPECT_TRUE(contains(read_file(folder + "/j/attempt_0/0/stderr.log"), "err 0\n"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/j/attempt_0/0/stdout.log"));
  std::filesystem::remove_all(folder);
}

TEST(Distrun, OnlyTheFilteredRanksAreShown) {
  const Ran ran = run_shell({"--nproc-per-node", "3", "--local-ranks-filter", "0,2"}, "echo here");
  auto lines = lines_of(ran.out);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"[0] here", "[2] here"}));
}

TEST(Distrun, InputGoesToRankZero) {
  const Ran ran = run_program(shell({"--nproc-per-node", "2"}, "cat"), {}, "for rank 0\n");
  EXPECT_EQ(ran.out, "[0] for rank 0\n");
}

TEST(Distrun, RootCauseComesFirstThoughItEndedLast) {
  const Ran ran = run_shell({"--nproc-per-node", "4"},
                            "case $RANK in"
                            " 2) echo 'rank 2: cannot read batch 7' >&2; sleep 0.5; exit 42;;"
                            " 0) sleep 0.1; echo 'rank 0: all_reduce #3: rank 2 left' >&2; exit 1;;"
                            " *) sleep 0.2; echo \"rank $RANK: ranks 0 and 2 left\" >&2; exit 1;; esac");
  EXPECT_EQ(ran.code, 42) << ran.err;
  const int root = line_with(ran.err, "distrun: rank 2 failed: exit code 42");
  ASSERT_GE(root, 0) << ran.err;
  EXPECT_GT(line_with(ran.err, "distrun:   rank 2: cannot read batch 7"), root) << ran.err;
  EXPECT_GT(line_with(ran.err, "then failed: rank 0 (exit code 1), rank"), root) << ran.err;
}

TEST(Distrun, ASignalIsNamedAndGives128PlusItsNumber) {
  const Ran ran = run_shell({"--nproc-per-node", "2", "--grace-period", "0.2"},
                            "[ $RANK = 1 ] && kill -SEGV $$; sleep 60");
  EXPECT_EQ(ran.code, 128 + SIGSEGV);
  EXPECT_TRUE(contains(ran.err, "distrun: rank 1 failed: killed by signal 11 (Segmentation fault)"))
      << ran.err;
  EXPECT_TRUE(contains(ran.err, "ended by distrun: rank 0")) << ran.err;
  EXPECT_LT(ran.seconds, 10);
}

TEST(Distrun, OthersGetTheGracePeriodToReport) {
  const Ran ran =
      run_shell({"--nproc-per-node", "2"}, "[ $RANK = 1 ] && exit 3; sleep 1; echo 'my last words'; exit 0");
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(contains(ran.out, "[0] my last words")) << ran.out;
  EXPECT_LT(ran.seconds, 4);  // not the whole period: all had ended
}

TEST(Distrun, ARankThatIgnoresSigtermIsKilled) {
  const Ran ran =
      run_shell({"--nproc-per-node", "2", "--grace-period", "0.2"},
                "[ $RANK = 1 ] && { sleep 0.5; exit 3; }; trap '' TERM; while :; do sleep 0.1; done");
  EXPECT_EQ(ran.code, 3);
  EXPECT_LT(ran.seconds, 10);
  EXPECT_TRUE(contains(ran.err, "distrun: killing rank 0: still running 0.2 s after SIGTERM")) << ran.err;
}

TEST(Distrun, TheGracePeriodCountsFromSigtermToo) {
  const Ran ran = run_shell({"--nproc-per-node", "2", "--grace-period", "3"},
                            "[ $RANK = 1 ] && exit 3; trap 'sleep 2.3; echo at last; exit 0' TERM; "
                            "while :; do sleep 0.1; done");
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(contains(ran.out, "[0] at last")) << ran.out;
  const std::string failed = "distrun: rank 1 failed: exit code 3; ";
  EXPECT_TRUE(contains(ran.err, failed + "waiting up to 3 s for the report of rank 0")) << ran.err;
  EXPECT_TRUE(contains(ran.err, failed + "sending SIGTERM to rank 0: still running 3 s later")) << ran.err;
  EXPECT_FALSE(contains(ran.err, "killing")) << ran.err;
}

TEST(Distrun, RestartsUntilItWorks) {
  const std::string script =
      "echo attempt $TORCHELASTIC_RESTART_COUNT; [ $TORCHELASTIC_RESTART_COUNT = 2 ] || exit 9";
  Ran ran = run_shell({"--nproc-per-node", "2", "--max-restarts", "2"}, script);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "[1] attempt 2")) << ran.out;
  EXPECT_TRUE(contains(ran.err, "restarting all ranks (2 of 2)")) << ran.err;
  ran = run_shell({"--nproc-per-node", "2", "--max-restarts", "1"}, script);
  EXPECT_EQ(ran.code, 9);
  EXPECT_FALSE(contains(ran.out, "attempt 2")) << ran.out;
}

class Told : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Signal, Told, testing::Values(SIGINT, SIGTERM, SIGHUP),
                         testing::PrintToStringParamName());

TEST_P(Told, ForwardsTheSignalAndEndsWithIt) {
  Running running(
      shell({"--nproc-per-node", "2"},
            "trap 'echo got it; exit 0' INT TERM HUP; echo ready $RANK; while :; do sleep 0.05; done"));
  ASSERT_TRUE(running.wait_for_output("ready 0") && running.wait_for_output("ready 1"));
  running.send_signal(GetParam());
  const Ran ran = running.wait();
  EXPECT_EQ(ran.code, 128 + GetParam());
  EXPECT_TRUE(contains(ran.out, "[0] got it") && contains(ran.out, "[1] got it")) << ran.out;
}

TEST(Distrun, WhatIsMeantForTheRanksReachesThemAndEndsNothing) {
  Running running(shell({"--nproc-per-node", "2"},
                        "trap 'echo one' USR1; trap 'echo two; exit 0' USR2; echo ready; while :; do sleep "
                        "0.05; done"));
  ASSERT_TRUE(running.wait_for_output("[0] ready") && running.wait_for_output("[1] ready"));
  running.send_signal(SIGUSR1);
  ASSERT_TRUE(running.wait_for_output("[0] one") && running.wait_for_output("[1] one"));
  running.send_signal(SIGUSR2);
  const Ran ran = running.wait(10);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "[0] two") && contains(ran.out, "[1] two")) << ran.out;
}

TEST(Distrun, TheSecondSignalKillsAtOnce) {
  Running running(
      shell({"--nproc-per-node", "2"}, "trap '' INT; echo ready pid:$$; while :; do sleep 0.05; done"));
  ASSERT_TRUE(running.wait_for_output("[0] ready") && running.wait_for_output("[1] ready"));
  running.send_signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  running.send_signal(SIGINT);
  const Ran ran = running.wait(4);
  EXPECT_EQ(ran.code, 128 + SIGINT);
  for (const pid_t pid : pids_in(ran.out)) EXPECT_TRUE(is_gone_within(pid, 2));
}

TEST(Distrun, APromptIsSeenWhileItsRankWaits) {
  Running running(
      shell({"--nproc-per-node", "2"},
            "[ $RANK = 0 ] || exit 0; printf 'name? '; until [ -e /proc/self/none ]; do sleep 0.05; done"));
  EXPECT_TRUE(running.wait_for_output("[0] name? ", 10));
  running.send_signal(SIGTERM);
  const Ran ran = running.wait(20);
  EXPECT_TRUE(contains(ran.err,
                       "distrun: SIGTERM: passed on to rank 0, which may take 5 s to end; a second one "
                       "kills them"))
      << ran.err;
}

TEST(Distrun, PassesTheLocalRankAsAnArgument) {
  const Ran ran = run_program({DISTRUN, "--nproc-per-node", "2", "--pass-local-rank", "echo", "and", "more"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* line : {"[0] --local-rank=0 and more", "[1] --local-rank=1 and more"})
    EXPECT_TRUE(contains(ran.out, line)) << ran.out;
}

TEST(Distrun, ShowsWhatARankWroteIntoItsErrorFile) {
  const std::string folder = temporary_folder();
  for (const std::string json :
       {R"({"message": {"message": "out of paper", "extraInfo": {}}})", R"({"message": "out of paper"})"}) {
    const Ran ran = run_shell({"--nproc-per-node", "1", "--log-dir", folder},
                              "echo '" + json + "' > $TORCHELASTIC_ERROR_FILE; exit 4");
    EXPECT_EQ(ran.code, 4);
    EXPECT_TRUE(contains(ran.err, "distrun: its error.json says:\ndistrun:   out of paper")) << ran.err;
  }
  const Ran uncaught =
      run_program({DISTRUN, "--nproc-per-node", "2", "--log-dir", folder, SAME_PROGRAM, "careless"});
  EXPECT_TRUE(contains(uncaught.err, "its error.json says:\ndistrun:   nothing catches this"))
      << uncaught.err;
  std::filesystem::remove_all(folder);
}

TEST(Distrun, AFullDiskIsTold) {
  for (const std::string program : {"yes", "echo one"}) {  // ended by distrun, and by itself
    const Ran ran =
        run_program({"bash", "-c", std::string(DISTRUN) + " --nproc-per-node 2 " + program + " > /dev/full"},
                    {"OMP_NUM_THREADS=1"});
    EXPECT_EQ(ran.code, 1) << program;
    EXPECT_EQ(ran.err, "distrun: standard output cannot be written: No space left on device\n") << program;
    EXPECT_LT(ran.seconds, 20) << program;
  }
}

TEST(Distrun, AReaderThatLeavesEndsTheRanks) {
  const Ran ran = run_program({"bash", "-c", std::string(DISTRUN) + " --nproc-per-node 2 yes | head -n 1"});
  EXPECT_EQ(ran.out.size(), 6U) << ran.out.substr(0, 100);  // "[0] y\n"
  EXPECT_LT(ran.seconds, 20);
}

// A rank that leaves processes behind, in its own group and in a session of its own.
const char* const with_children =
    "sleep 300 & echo pid:$!; setsid sh -c 'echo pid:$$; exec sleep 300' & echo pid:$$; sleep 0.3; ";

TEST(Distrun, NothingIsLeftAfterANormalEnd) {
  const Ran ran = run_shell({"--nproc-per-node", "2"}, with_children);
  EXPECT_EQ(ran.code, 0);
  const auto pids = pids_in(ran.out);
  EXPECT_EQ(pids.size(), 6U) << ran.out;
  for (const pid_t pid : pids) EXPECT_TRUE(is_gone_within(pid, 2)) << pid;
}

TEST(Distrun, NothingIsLeftWhenDistrunItselfIsKilled) {
  Running running(
      shell({"--nproc-per-node", "2"}, "sleep 300 & echo pid:$!; echo pid:$$; echo ready $RANK; wait"));
  ASSERT_TRUE(running.wait_for_output("ready 0") && running.wait_for_output("ready 1"));
  const auto pids = pids_in(running.out());
  ASSERT_EQ(pids.size(), 4U);
  for (const pid_t pid : pids) EXPECT_TRUE(is_alive(pid));
  running.send_signal(SIGKILL);
  EXPECT_EQ(running.wait().code, 128 + SIGKILL);
  for (const pid_t pid : pids) EXPECT_TRUE(is_gone_within(pid, 2)) << pid;
}

TEST(Distrun, AProgramThatCannotRunIsOneLine) {
  const std::string folder = temporary_folder();
  const auto file = [&](const std::string& name, const std::string& text, bool executable) {
    const std::string path = folder + "/" + name;
    std::FILE* out = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), out);
    std::fclose(out);
    std::filesystem::permissions(path, std::filesystem::perms(executable ? 0755 : 0644));
    return path;
  };
  const std::map<std::string, std::string> reasons{
      {"/no/such/program", "No such file"},
      {"surely-not-on-the-path", "No such file"},
      {folder, "Is a directory"},
      {file("plain.txt", "text\n", false), "chmod +x"},
      {file("train.py", "print(1)\n", false), "python3 FILE"},
      {file("no_interpreter", "#!/no/such/interpreter\n", true), "its interpreter or loader is missing"},
      {file("no_first_line", "\x01\x02 garbage\n", true), "#!/bin/sh"},
  };
  for (const auto& [program, reason] : reasons) {
    const Ran ran = run_program({DISTRUN, "--nproc-per-node", "3", program}, {"OMP_NUM_THREADS=1"});
    EXPECT_EQ(ran.code, 127) << program;
    EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
    EXPECT_TRUE(contains(ran.err, program) && contains(ran.err, reason)) << ran.err;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
