// Systems with tight limits: what distlab does not need must not stop it, and when it does not get what it
// needs, it says so in one clear line.
#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace {

struct Outcome {
  int status;
  std::string output;
  std::size_t lines() const {
    return static_cast<std::size_t>(std::count(output.begin(), output.end(), '\n'));
  }
};

// Runs limits_program under a shell prefix such as "ulimit -s 256;".
Outcome run(const std::string& prefix, const std::string& argument = "processes") {
  const std::string command = prefix + " timeout 60 " LIMITS_PROGRAM " " + argument + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome{-1, ""};
  std::array<char, 4096> buffer;
  while (fgets(buffer.data(), buffer.size(), pipe)) outcome.output += buffer.data();
  outcome.status = pclose(pipe);
  return outcome;
}

void expect_ok(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "ok\n");
}

// Refused: exit status 1, and one line that holds `word`.
void expect_one_line(const Outcome& outcome, const std::string& word) {
  EXPECT_EQ(outcome.status, 256) << outcome.output;
  EXPECT_EQ(outcome.lines(), 1u) << outcome.output;
  EXPECT_NE(outcome.output.find(word), std::string::npos) << outcome.output;
}

bool can_mount() { return std::system("unshare -m true 2>/dev/null") == 0; }

TEST(Limits, NoLockedMemoryIsNeeded) { expect_ok(run("ulimit -l 0;")); }
TEST(Limits, SmallStacksSuffice) { expect_ok(run("ulimit -s 256;")); }
TEST(Limits, SmallStacksSufficeForThreads) { expect_ok(run("ulimit -s 256;", "threads")); }
TEST(Limits, NoCoreFilesNoPipesMatter) { expect_ok(run("ulimit -c 0;")); }

TEST(Limits, AFullDevShmDoesNotMatter) {
  if (!can_mount()) GTEST_SKIP() << "mount namespaces are not permitted here";
  expect_ok(
      run("unshare -m sh -c 'mount -t tmpfs -o size=64k none /dev/shm && "
          "head -c 65536 /dev/zero > /dev/shm/full 2>/dev/null; exec \"$@\"' sh"));
}

// Each rank maps the arenas of all ranks, and together they must fit.
TEST(Limits, ArenasOfAllRanksFitIntoTheAddressSpace) {
  for (const char* kib : {"1000000", "4000000", "16000000"})
    expect_ok(run("ulimit -v " + std::string(kib) + ";"));
}
TEST(Limits, SoftLimitsAreRaised) { expect_ok(run("ulimit -Sn 12; ulimit -Sf 100;")); }

TEST(Limits, TooSmallFilesAreOneLine) { expect_one_line(run("ulimit -f 1000;"), "(ulimit -f)"); }
TEST(Limits, SharedMemoryThatIsNotPermittedIsOneLine) {
  const Outcome outcome = run("", "without_memfd");
  expect_one_line(outcome, "seccomp");
  EXPECT_EQ(outcome.output.find("ulimit"), std::string::npos) << outcome.output;
}
TEST(Limits, DescriptorsThatDoNotSufficeAreCountedBeforehand) {
  expect_one_line(run("ulimit -n 100;", "32"), "32 ranks need");
}
TEST(Limits, DescriptorsThatTheProgramClosedAreSaidAtOnce) {
  const Outcome outcome = run("time -p env DIST_TRANSPORT=tcp", "closes");
  EXPECT_NE(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("does the program close descriptors that it did not open"), std::string::npos)
      << outcome.output;
  const auto real = outcome.output.find("real ");
  ASSERT_NE(real, std::string::npos) << outcome.output;
  EXPECT_LT(std::stod(outcome.output.substr(real + 5)), 9) << outcome.output;  // its timeout is 10 s
}
TEST(Limits, TooFewDescriptorsIsOneLine) { expect_one_line(run("ulimit -n 12;"), "ulimit -n"); }
TEST(Limits, TooLittleAddressSpaceIsOneLine) { expect_one_line(run("ulimit -v 200000;"), "address space"); }

}  // namespace
