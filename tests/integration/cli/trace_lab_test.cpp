// distlab trace N with the grader of a real lab and wrong answers to it.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "dist/trace/recorder.h"

#include "distlab/file_text.h"
#include "distlab/process.h"

namespace {

namespace fs = std::filesystem;

distlab::ProcessResult trace_3(std::vector<std::string> more) {
  std::vector<std::string> argv{DISTLAB_PROGRAM, "trace", "3", "--runner"};
  argv.insert(argv.end(), more.begin(), more.end());
  return distlab::run_captured(argv);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(TraceLab, ADeadlockHasAPictureAndSaysWhoWaitsForWhom) {
  const auto shown = trace_3({DEADLOCKS, "--width", "80", "--seed", "17"});
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_TRUE(contains(shown.output, "Part2Exchange.two_ranks_swap")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "seed 17")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "cycle: rank 0 -> rank 1 -> rank 0")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "┏ send")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "┊ waits")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "until the timeout of its call")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "./distlab trace 3 --html")) << shown.output;
  EXPECT_EQ(trace_3({DEADLOCKS, "--width", "80", "--seed", "17"}).output, shown.output)
      << "the same run again";
}

TEST(TraceLab, OfSeveralRunsThePictureIsThatOfTheOneThatFailed) {
  const auto shown =
      trace_3({DEADLOCKS, "--width", "80", "--test", "Part2Exchange.whoever_the_partners_are"});
  const auto begin = shown.output.find("exchange on "), end = shown.output.find(": D1 deadlock");
  ASSERT_NE(end, std::string::npos) << shown.output;
  const auto run = shown.output.substr(begin, end - begin);
  EXPECT_NE(shown.output.find("\n" + run + "\n", end), std::string::npos)
      << "the title of the picture: " << shown.output;
}

TEST(TraceLab, AnyTestByItsNameAndAFileForPerfetto) {
  const auto file = fs::temp_directory_path() / ("distlab-trace-" + std::to_string(::getpid()) + ".json");
  const auto shown = trace_3({SOLUTION, "--test", "even rings", "-o", file});
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_TRUE(contains(shown.output, "✓ Part3Ring.even_rings")) << shown.output;
  EXPECT_TRUE(contains(shown.output, "▶")) << "a message: " << shown.output;
  EXPECT_TRUE(contains(shown.output, "ui.perfetto.dev")) << shown.output;
  const auto trace = dist::trace::read_file(file);
  EXPECT_FALSE(trace.events.empty());
  EXPECT_TRUE(trace.virtual_time);
  fs::remove(file);
}

TEST(TraceLab, ADeadlockAsAPage) {
  const auto file = fs::temp_directory_path() / ("distlab-page-" + std::to_string(::getpid()) + ".html");
  const auto shown = trace_3({DEADLOCKS, "--seed", "17", "--html", file});
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_TRUE(contains(shown.output, file.string() + ": open it in a browser")) << shown.output;
  EXPECT_FALSE(contains(shown.output, "┏ send")) << shown.output;
  const auto page = distlab::text_of_file(file);
  EXPECT_TRUE(contains(page, R"("code":"D1","title":"deadlock")"));
  EXPECT_TRUE(contains(page, R"("waits_for":[1])"));
  EXPECT_FALSE(contains(page, "@DISTLAB_TRACE@"));
  fs::remove(file);
}

TEST(TraceLab, ADeadlockAsAStill) {
  const auto file = fs::temp_directory_path() / ("distlab-still-" + std::to_string(::getpid()) + ".svg");
  const auto shown = trace_3({DEADLOCKS, "--seed", "17", "--svg", file});
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_TRUE(contains(shown.output, file.string() + ": a picture for a page")) << shown.output;
  EXPECT_FALSE(contains(shown.output, "┏ send")) << shown.output;
  const auto still = distlab::text_of_file(file);
  EXPECT_TRUE(contains(still, "class=\"call\"")) << still;
  EXPECT_TRUE(still.ends_with("</svg>\n"));
  fs::remove(file);
}

TEST(TraceLab, OtherFormatsAreAllOfStandardOutput) {
  const auto json = distlab::run_captured(
      {"sh", "-c", "\"$0\" trace 3 --runner \"$1\" --test 'odd rings' --format player 2> /dev/null",
       DISTLAB_PROGRAM, SOLUTION});
  EXPECT_TRUE(json.output.starts_with("{")) << json.output.substr(0, 200);
}

TEST(TraceLab, TestsWithoutMessagesAndWithoutFailuresSaySo) {
  EXPECT_TRUE(contains(trace_3({SOLUTION}).output, "No test of lab 3 failed"));
  const auto returns = trace_3({SOLUTION, "--test", "there_is_none"}).output;
  EXPECT_TRUE(contains(returns, "sends no messages, so there is no picture: it calls your code")) << returns;
  EXPECT_FALSE(contains(returns, "result above")) << "of a test that passes nothing does: " << returns;
  const auto none = trace_3({SOLUTION, "--test", "nothing like this"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(contains(none.output, "has no test \"nothing like this\"")) << none.output;
}

}  // namespace
