// The built program, as a script or a person without a terminal sees it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "distlab/process.h"

namespace {

namespace fs = std::filesystem;
using distlab::ProcessResult;

ProcessResult distlab_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), DISTLAB_PROGRAM);
  return distlab::run_captured(arguments);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A build tree of our own with CTest entries, for `distlab test`.
class TestCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-cli-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    tree_ = name;
    setenv("DISTLAB_ROOT", CHECKOUT, 1);
    setenv("DISTLAB_BUILD", tree_.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(tree_);
    unsetenv("DISTLAB_ROOT");
    unsetenv("DISTLAB_BUILD");
  }
  void add(const std::string& name, const std::string& shell,
           const std::string& properties = "LABELS quick") {
    std::ofstream file(tree_ / "CTestTestfile.cmake", std::ios::app);
    file << "add_test(" << name << " sh -c [[" << shell << "]])\n";
    file << "set_tests_properties(" << name << " PROPERTIES " << properties << ")\n";
  }
  static std::string last_line(const std::string& text) {
    const auto end = text.find_last_not_of('\n');
    return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
  }
  fs::path tree_;
};

}  // namespace

TEST(Program, HelpNamesEveryCommandAndTheExitCodes) {
  const auto help = distlab_program({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"demo", "list", "run", "grade", "hint", "watch", "gradescope", "test", "doctor",
                           "sim", "trace", "slides", "Exit codes:", "./distlab"}) {
    EXPECT_TRUE(contains(help.output, word)) << word << " is not in:\n" << help.output;
  }
}

TEST(Program, WithoutArgumentsSaysWhatComesNext) {
  const auto page = distlab_program({});
  EXPECT_EQ(page.exit_code, 0);
  for (const char* line : {"  ./distlab list ", "  ./distlab --help "})
    EXPECT_TRUE(contains(page.output, line)) << page.output;
  EXPECT_LT(std::ranges::count(page.output, '\n'), 10) << page.output;
}

TEST(Program, EveryCommandHasHelpOfItsOwn) {
  for (const char* command : {"demo", "list", "run", "grade", "hint", "watch", "gradescope", "test", "doctor",
                              "sim", "trace", "slides", "version"}) {
    const auto help = distlab_program({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_GT(help.output.size(), 40U) << command;
  }
}

TEST(Program, PrintsItsVersion) {
  const auto version = distlab_program({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.output.starts_with("distlab 0.")) << version.output;
  EXPECT_EQ(distlab_program({"version"}).output, version.output);
}

TEST(Program, WrongUsageIsOneLineAndExitCode2) {
  const auto typo = distlab_program({"dmeo"});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_EQ(typo.output, "distlab: there is no command \"dmeo\"; did you mean \"demo\"?\n");
  EXPECT_EQ(distlab_program({"--nonsense"}).output,
            "distlab: there is no option \"--nonsense\"; see ./distlab --help\n");
  EXPECT_EQ(distlab_program({"grade", "--sed", "5", "0"}).output,
            "distlab: there is no option \"--sed\"; see ./distlab grade --help\n");
  const auto hidden = distlab_program({"rond"});
  EXPECT_FALSE(contains(hidden.output, "round")) << "not for people: " << hidden.output;
  const auto nonsense = distlab_program({"frobnicate"});
  EXPECT_EQ(nonsense.exit_code, 2);
  EXPECT_FALSE(contains(nonsense.output, "did you mean")) << nonsense.output;
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--nonsense"},
                                             {"doctor", "--nonsense"},
                                             {"grade"},
                                             {"test", "-j", "0"},
                                             {"test", "-j", "many"},
                                             {"grade", "1", "--json", "-"},
                                             {"show", "ring", "--html", "-"},
                                             {"show", "--html", "x"},
                                             {"sim", "--json", ""},
                                             {"bench", "all_reduce", "--json", ""},
                                             {"bench", "ddp", "--json", ""},
                                             {"data", "digits", "--sheet", ""},
                                             {"slides", "99"},
                                             {"trace", "run.json", "--seed", "3"},
                                             {"grade", "1", "--solution", "--submission", "x"},
                                             {"grade", "1", "--submission", ""},
                                             {"reset", "all"},
                                             {"hint", "distributed"},
                                             {"sim", "broadcast", "--solution"},
                                             {"bench", "all_reduce", "-n", "0"},
                                             {"bench", "all_reduce", "--min", "-4"},
                                             {"bench", "--explain", "-1"},
                                             {"bench", "--backend", "sim"}}) {
    EXPECT_EQ(distlab_program(arguments).exit_code, 2) << arguments.front();
  }
}

TEST(Program, ALabIsNamedSoThatItIsOne) {
  EXPECT_EQ(distlab_program({"reset", "all"}).output,
            "distlab: \"all\" is only for ./distlab grade; name one lab\n");
  EXPECT_EQ(distlab_program({"hint", "distributed"}).output,
            "distlab: \"distributed\" may be 08_distributed_softmax or 13_distributed_sampler; give more of "
            "its name, or "
            "its number\n");
}

TEST(Program, SaysWhatIsWrongWithTheEnvironment) {
  ASSERT_EQ(setenv("TMPDIR", "/nope", 1), 0);
  const auto nowhere = distlab_program({"sim", SIM_PROGRAM});
  unsetenv("TMPDIR");
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_EQ(nowhere.output, "distlab: TMPDIR is /nope, which is not a folder; create it, or unset TMPDIR\n");
  for (const char* const closed : {"2>&-", "2>/dev/full"})
    EXPECT_EQ(distlab::run_captured({"sh", "-c", fmt::format("'{}' start 99 {}", DISTLAB_PROGRAM, closed)})
                  .exit_code,
              2)
        << closed;
}

TEST(Program, ACommandWithoutItsLabSaysWhatToType) {
  for (const std::string command :
       {"start", "run", "grade", "hint", "solution", "submit", "reset", "trace"}) {
    const auto said = distlab_program({command});
    EXPECT_EQ(said.exit_code, 2) << command;
    EXPECT_EQ(said.output,
              "distlab: which lab? For lab 1: ./distlab " + command + " 1; ./distlab list shows all labs\n");
  }
  EXPECT_EQ(distlab_program({"solution", "--spoil"}).output,
            "distlab: which lab? For lab 1: ./distlab solution 1; ./distlab list shows all labs\n");
  EXPECT_EQ(distlab_program({"class", "grade", "handed_in"}).output,
            "distlab: which lab? For lab 1: add --lab 1; ./distlab list shows all labs\n");
  EXPECT_EQ(distlab_program({"class", "grade", "--lab", "1"}).output,
            "distlab: folder is missing; see ./distlab class grade --help\n");
}

TEST(Program, DoctorSaysWhatEachBackendHas) {
  const auto matrix = distlab_program({"doctor", "--matrix"});
  EXPECT_EQ(matrix.exit_code, 0);
  for (const char* part : {"all_reduce      CPU", "ucc: not in Debian 12", "Dtypes of sums", "host"})
    EXPECT_NE(matrix.output.find(part), std::string::npos) << matrix.output;
}

TEST(Program, DoctorAsJsonHasAllTopicsAndAReasonForEachAbsence) {
  const auto doctor = distlab_program({"doctor", "--json"});
  const auto report = nlohmann::json::parse(doctor.output);
  std::vector<std::string> topics;
  for (const auto& finding : report.at("findings")) {
    topics.push_back(finding.at("topic"));
    const std::string health = finding.at("health");
    EXPECT_TRUE(health == "good" || health == "absent" || health == "bad") << health;
    EXPECT_FALSE(finding.at("found").get<std::string>().empty()) << finding;
    EXPECT_TRUE(health == "good" || !finding.at("cost").get<std::string>().empty()) << finding;
  }
  for (const char* topic :
       {"compiler", "cmake", "CUDA toolkit", "NVIDIA driver", "NCCL", "cuDNN", "Open MPI", "oneDNN", "cores",
        "memory", "open files", "locked memory", "address space", "stack", "/dev/shm", "memfd",
        "abstract sockets", "network namespaces", "bubblewrap"}) {
    EXPECT_NE(std::ranges::find(topics, topic), topics.end()) << topic;
  }
  for (const char* topic : {"GPU paths", "fabric"})
    EXPECT_NE(std::ranges::find(topics, topic), topics.end()) << topic;
}

// By a libnvidia-ml.so.1 that makes them up.
TEST(Program, DoctorDrawsEightGpus) {
  const auto doctor = distlab::run_captured(
      {"env", "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER, "FAKE_NVML=8 switch", DISTLAB_PROGRAM, "doctor"});
  EXPECT_TRUE(contains(doctor.output, "  GPU 7  NV18   NV18   NV18   NV18   NV18   NV18   NV18   -      \n"))
      << doctor.output;
  EXPECT_TRUE(contains(doctor.output, "every pair maps each other's memory")) << doctor.output;
  EXPECT_FALSE(contains(doctor.output, "NCCL's paths")) << "it is asked by --nccl alone";
}

TEST(Program, DoctorAsksNcclWhereThereIsOne) {
  const auto doctor = distlab_program({"doctor", "--nccl"});
  EXPECT_TRUE(contains(doctor.output, "NCCL's paths")) << doctor.output;
}

TEST(Program, DoctorSeesALimitThatHurts) {
  const auto doctor =
      distlab::run_captured({"sh", "-c", "ulimit -n 64; exec \"$0\" doctor", DISTLAB_PROGRAM});
  EXPECT_EQ(doctor.exit_code, 3) << doctor.output;
  EXPECT_TRUE(contains(doctor.output, "!! open files")) << doctor.output;
  EXPECT_TRUE(contains(doctor.output, "ulimit -n 1024")) << doctor.output;
}

TEST(Program, ColoursStayAwayFromPipes) {
  for (const char* command : {"--help", "doctor", "list"}) {
    EXPECT_FALSE(contains(distlab_program({command}).output, "\033[")) << command;
  }
}

TEST(Program, ColoursComeOnATerminalUnlessNoColorIsSet) {
  if (distlab::find_program("script").empty()) GTEST_SKIP() << "script (util-linux) makes the terminal";
  const std::string command = std::string("'") + DISTLAB_PROGRAM + "' doctor";
  const auto coloured =
      distlab::run_captured({"env", "TERM=xterm", "NO_COLOR=", "script", "-qec", command, "/dev/null"});
  EXPECT_TRUE(contains(coloured.output, "\033[1mToolchain")) << coloured.output;
  const auto plain =
      distlab::run_captured({"env", "TERM=xterm", "NO_COLOR=1", "script", "-qec", command, "/dev/null"});
  EXPECT_TRUE(contains(plain.output, "Toolchain")) << plain.output;
  EXPECT_FALSE(contains(plain.output, "\033[")) << plain.output;
}

TEST_F(TestCommand, AllPassed) {
  add("unit.a", "echo '[  PASSED  ] 3 tests.'");
  add("unit.b", "true");
  const auto run = distlab_program({"test"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(last_line(run.output), "4 passed, 0 failed");
}

TEST_F(TestCommand, AFailureShowsWhatItSaidAndExits1) {
  add("unit.good", "echo unseen");
  add("unit.bad", "echo 'the reason'; exit 1");
  add("unit.crash", "kill -SEGV $$");
  const auto run = distlab_program({"test"});
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_TRUE(contains(run.output, "the reason")) << run.output;
  EXPECT_FALSE(contains(run.output, "unseen")) << run.output;
  EXPECT_TRUE(contains(run.output, "failed: unit.bad")) << run.output;
  EXPECT_TRUE(contains(run.output, "failed: unit.crash")) << run.output;
  EXPECT_EQ(last_line(run.output), "1 passed, 2 failed");
}

TEST_F(TestCommand, SkippedTestsSayWhy) {
  add("unit.a", "true");
  add("hosts", "echo 'namespaces are not permitted'; exit 77", "SKIP_RETURN_CODE 77 LABELS quick");
  const auto run = distlab_program({"test"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_TRUE(contains(run.output, "skipped 1: namespaces are not permitted")) << run.output;
  EXPECT_EQ(last_line(run.output), "1 passed, 0 failed, 1 skipped");
}

TEST_F(TestCommand, RunsTheQuickOnesTheRestOrAll) {
  add("short", "true", "LABELS \"unit;quick\"");
  add("middle", "true", "LABELS unit");
  add("other", "true", "LABELS unit");
  add("long", "true", "LABELS \"integration;full\"");
  const auto quick = distlab_program({"test"}).output;
  EXPECT_TRUE(quick.ends_with("all tests: ./distlab test --full\n1 passed, 0 failed\n")) << quick;
  EXPECT_EQ(last_line(distlab_program({"test", "--rest"}).output), "2 passed, 0 failed");
  EXPECT_EQ(last_line(distlab_program({"test", "--rest", "--full"}).output), "3 passed, 0 failed");
  EXPECT_EQ(last_line(distlab_program({"test", "--full"}).output), "4 passed, 0 failed");
  EXPECT_EQ(last_line(distlab_program({"test", "--label", "unit"}).output), "3 passed, 0 failed");
  EXPECT_EQ(last_line(distlab_program({"test", "--full", "--label", "integration"}).output),
            "1 passed, 0 failed");
  EXPECT_EQ(last_line(distlab_program({"test", "--full", "--filter", "^l"}).output), "1 passed, 0 failed");
}

TEST_F(TestCommand, NoTestAtAllIsAFailure) {
  EXPECT_EQ(distlab_program({"test"}).exit_code, 1) << "an empty build tree";
  add("unit.a", "true");
  const auto run = distlab_program({"test", "--filter", "nothing-is-called-this"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(run.output.ends_with(": no name or label matches --filter \"nothing-is-called-this\"\n"))
      << run.output;
  const auto odd = distlab_program({"test", "--filter", "("});
  EXPECT_EQ(odd.exit_code, 2);
  EXPECT_EQ(
      odd.output,
      "distlab: --filter \"(\" is not a regular expression (Unmatched parentheses); for a plain ( write "
      "[(]\n");
}

TEST_F(TestCommand, AllTestsSayHowManyWrongAnswersWereTried) {
  add("grading.a", "true", "LABELS grading");
  std::ofstream(tree_ / "tier.txt") << "wrong answers: 31 of 188 (one in 6)\n";
  const auto all = distlab_program({"test", "--full"});
  EXPECT_TRUE(contains(all.output, "wrong answers: 31 of 188 (one in 6)\n1 passed, 0 failed\n"))
      << all.output;
  EXPECT_FALSE(contains(distlab_program({"test", "--filter", "a"}).output, "wrong answers"))
      << "not for a part";
}
