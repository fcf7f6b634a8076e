#include "distlab/test_report.h"

#include <gtest/gtest.h>

using distlab::TestReport;
using distlab::TestStatus;

namespace {

// As `ctest -V -j 2` prints: two entries' lines interleaved.
TestReport read(const std::vector<std::string>& lines) {
  TestReport report;
  for (const auto& line : lines) report.add_line(line);
  return report;
}

}  // namespace

TEST(TestReport, CountsTheCasesOfAProgram) {
  const auto report =
      read({"1: [==========] Running 12 tests from 3 test suites.", "1: [  PASSED  ] 12 tests.",
            "1/1 Test #1: unit.core .........................   Passed    0.12 sec"});
  EXPECT_EQ(report.summary(), "12 passed, 0 failed");
  EXPECT_EQ(report.last().name, "unit.core");
  EXPECT_EQ(report.last().seconds, "0.12");
}

TEST(TestReport, CountsAScriptAsOne) {
  const auto report = read({"1: hello", "1/2 Test #1: a script with spaces ....   Passed    0.12 sec",
                            "2: no", "2/2 Test #2: b .....***Failed    0.01 sec"});
  EXPECT_EQ(report.summary(), "1 passed, 1 failed");
  EXPECT_EQ(report.failures(), std::vector<std::string>{"b"});
  EXPECT_EQ(report.total(), 2);
}

TEST(TestReport, KeepsInterleavedOutputApart) {
  TestReport report;
  for (const char* line : {"2: [ RUN      ] A.b", "1: first", "2: x.cpp:3: Failure",
                           "1: [  PASSED  ] 2 tests.", "2: [  FAILED  ] 1 test, listed below:"}) {
    EXPECT_FALSE(report.add_line(line)) << line;
  }
  EXPECT_TRUE(report.add_line("1/2 Test #2: unit.b ...***Failed    1.00 sec"));
  EXPECT_EQ(report.last().status, TestStatus::failed);
  EXPECT_EQ(report.last().output,
            (std::vector<std::string>{"x.cpp:3: Failure", "[  FAILED  ] 1 test, listed below:"}));
  EXPECT_TRUE(report.add_line("2/2 Test #1: unit.a ...   Passed    1.00 sec"));
  EXPECT_EQ(report.summary(), "2 passed, 1 failed");
}

TEST(TestReport, ACrashIsAFailureEvenAfterCasesThatPassed) {
  const auto report =
      read({"1: [       OK ] A.a (0 ms)", "1/2 Test #1: unit.a ...***Exception: SegFault  0.10 sec",
            "2: [  PASSED  ] 3 tests.", "2/2 Test #2: unit.b ...***Failed   0.10 sec"});
  EXPECT_EQ(report.summary(), "3 passed, 2 failed");
}

TEST(TestReport, TimeoutsAndWhatCouldNotStartAreFailures) {
  const auto report = read({"1/2 Test #1: slow .......***Timeout  10.00 sec",
                            "2/2 Test #2: unit_x_NOT_BUILT .......***Not Run   0.00 sec"});
  EXPECT_EQ(report.summary(), "0 passed, 2 failed");
}

TEST(TestReport, SkipsAreCountedWithTheirReasons) {
  const auto report =
      read({"1: a.cpp:10: Skipped", "1: no GPU here", "1: [  PASSED  ] 4 tests.",
            "1: [  SKIPPED ] 1 test, listed below:", "1/2 Test #1: unit.a ...   Passed    0.10 sec",
            "2: namespaces are not permitted", "2/2 Test #2: hosts .....***Skipped   0.10 sec"});
  EXPECT_EQ(report.summary(), "4 passed, 0 failed, 2 skipped");
  EXPECT_EQ(report.skip_reasons().at("no GPU here"), 1);
  EXPECT_EQ(report.skip_reasons().at("namespaces are not permitted"), 1);
}

TEST(TestReport, EndlessLinesAreOnlyText) {
  const std::string flood(5'000'000, 'x');
  const auto report =
      read({"1: " + flood, flood, "[  PASSED  ] " + flood, "1/1 Test #1: a ...***Failed   0.10 sec"});
  EXPECT_EQ(report.summary(), "0 passed, 1 failed");
  EXPECT_EQ(report.last().output, std::vector<std::string>{flood});
}

TEST(TestReport, IgnoresWhatElseCtestSays) {
  const auto report =
      read({"UpdateCTestConfiguration  from :/x", "test 1", "    Start 1: a", "",
            "100% tests passed, 0 tests failed out of 1", "Total Test time (real) =   0.01 sec"});
  EXPECT_EQ(report.summary(), "0 passed, 0 failed");
  EXPECT_EQ(report.finished(), 0);
}
