// distlab test: runs the tests of the build tree and counts the cases that passed.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/counted.h"

#include "distlab/commands.h"
#include "distlab/process.h"
#include "distlab/terminal.h"
#include "distlab/test_report.h"
#include "distlab/waiting.h"
#include "distlab/workspace.h"

namespace distlab {
namespace {

// Without a choice of its own: tests with the label "quick", which reach every layer and every lab.
bool is_quick(const TestOptions& options) {
  return !options.full && !options.rest && options.filter.empty() && options.label.empty() &&
         !options.rerun_failed;
}

std::vector<std::string> ctest_command(const TestOptions& options) {
  const unsigned jobs = options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> argv{"ctest", "--test-dir", workspace().build.string(),
                                "-V",    "-j",         std::to_string(jobs)};
  const auto add = [&argv](const char* option, const char* labels) {
    argv.insert(argv.end(), {option, labels});
  };
  if (options.rest)
    add("-LE", options.full ? "^quick$" : "^(quick|full)$");
  else if (is_quick(options))
    add("-L", "^quick$");
  else if (!options.full)
    add("-LE", "^full$");
  if (!options.filter.empty()) argv.insert(argv.end(), {"-R", options.filter});
  if (!options.label.empty()) argv.insert(argv.end(), {"-L", options.label});
  if (options.rerun_failed) argv.emplace_back("--rerun-failed");
  return argv;
}

// Prints the output of a failed test: only the beginning and the end when it is long.
void print_output(const TestEntry& entry) {
  constexpr std::size_t head = 40, tail = 20;
  const auto& lines = entry.output;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines.size() > head + tail && i == head) {
      fmt::print("    ... {} ...\n", dist::counted(lines.size() - head - tail, "line"));
      i = lines.size() - tail;
    }
    fmt::print("    {}\n", lines[i]);
  }
}

void print_entry(const TestEntry& entry, bool all) {
  switch (entry.status) {
    case TestStatus::passed:
      if (all) fmt::print("{}      {} ({} s)\n", styled(Style::good, "ok"), entry.name, entry.seconds);
      return;
    case TestStatus::skipped:
      if (all)
        fmt::print("{} {}: {}\n", styled(Style::warn, "skipped"), entry.name, entry.skip_reasons.front());
      return;
    case TestStatus::failed:
      fmt::print("{}  {} ({}, {} s)\n", styled(Style::bad, "FAILED"), entry.name, entry.how, entry.seconds);
      print_output(entry);
      return;
  }
}

// Prints how many of the wrong answers this build tries, as tests/grading/tier.cmake has chosen.
void print_tier() {
  std::ifstream file(workspace().build / "tier.txt");
  for (std::string line; std::getline(file, line);) fmt::print("{}\n", line);
}

void print_summary(const TestReport& report, const TestOptions& options) {
  fmt::print("\n");
  if ((options.full || options.rest) && options.filter.empty() && options.label.empty()) print_tier();
  for (const auto& [reason, cases] : report.skip_reasons()) fmt::print("skipped {}: {}\n", cases, reason);
  for (const auto& name : report.failures()) fmt::print("{}: {}\n", styled(Style::bad, "failed"), name);
  if (!report.failures().empty()) {
    fmt::print("their whole output: {}\nto run only these again: ./distlab test --rerun-failed\n",
               (workspace().build / "Testing/Temporary/LastTest.log").string());
  }
  if (is_quick(options)) fmt::print("these are the quick ones; all tests: ./distlab test --full\n");
  fmt::print("{}\n", report.summary());
}

// "--filter \"^unit\" and --label \"x\""
std::string patterns(const TestOptions& options) {
  std::vector<std::string> all;
  if (!options.filter.empty()) all.push_back(fmt::format("--filter \"{}\"", options.filter));
  if (!options.label.empty()) all.push_back(fmt::format("--label \"{}\"", options.label));
  return fmt::format("{}", fmt::join(all, " and "));
}

// ctest exits with 0 when it finds no test, so the reason must be read from its output.
int say_why_none_ran(const TestOptions& options, int ctest_code, const std::string& remarks) {
  constexpr std::string_view bad_pattern = "RegularExpression::compile(): ";
  if (const auto at = remarks.find(bad_pattern); at != remarks.npos) {
    const auto begin = at + bad_pattern.size();
    fmt::print(stderr, "distlab: {} is not a regular expression ({}); for a plain ( write [(]\n",
               patterns(options), remarks.substr(begin, remarks.find_first_of(".\n", begin) - begin));
    return exit_usage;
  }
  const auto asked = patterns(options);
  fmt::print(stderr, "{}distlab: no test ran in {}{}\n", ctest_code == 0 ? "" : remarks,
             workspace().build.string(),
             asked.empty() ? "" : fmt::format(": no name or label matches {}", asked));
  return exit_failed;
}

}  // namespace

int run_tests(const TestOptions& options) {
  TestReport report;
  Waiting waiting("starting the tests");
  std::string remarks;  // other output of ctest, in case no test runs
  const bool all = options.verbose || !stdout_is_terminal();
  const auto ended = run_streamed(ctest_command(options), [&](std::string_view line) {
    if (!report.add_line(line)) {
      if (report.finished() == 0) remarks.append(line).append("\n");
      return;
    }
    waiting.clear();
    print_entry(report.last(), all);
    std::fflush(stdout);
    const double share = static_cast<double>(report.finished()) / static_cast<double>(report.total());
    waiting.show(
        fmt::format("{}/{}  {}  {}", report.finished(), report.total(), report.summary(), report.last().name),
        [share] { return share; });
  });
  waiting.clear();
  if (ended.exit_code == 127) {
    fmt::print(stderr, "distlab: ctest is not in PATH; install CMake, which contains it\n");
    return exit_missing;
  }
  if (report.finished() == 0) return say_why_none_ran(options, ended.exit_code, remarks);
  print_summary(report, options);
  // ctest's exit code counts as well, because it may have ended early.
  return report.failed() > 0 || ended.exit_code != 0 ? exit_failed : exit_ok;
}

}  // namespace distlab
