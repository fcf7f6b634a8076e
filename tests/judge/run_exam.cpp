#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <system_error>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/core/error.h"

#include "judge/child.h"
#include "judge/exam.h"
#include "judge/progress.h"
#include "judge/report.h"
#include "judge/sandbox.h"
#include "judge/trouble.h"
#include "judge/watched_tests.h"

namespace judge {
namespace {

constexpr int exit_usage = 2, exit_fault = 3;

// What compiler and linker may work for the runner before it counts as time that the runs have taken, too; a
// solution takes some 3 s.
constexpr std::uint64_t usual_work_ms = 10'000;

struct CommandLine {
  std::string runner, report;
  std::uint64_t seed = 0, work_ms = 0;
  std::string traces;
};
CommandLine command_line;

bool parse(int argc, char** argv) {
  std::random_device random;
  command_line.seed = random();
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--runner" && !value.empty()) {
      command_line.runner = value;
    } else if (option == "--report" && !value.empty()) {
      command_line.report = value;
    } else if (option == "--traces" && !value.empty()) {
      command_line.traces = value;
    } else if (option == "--seed" || option == "--build-work-ms") {
      auto& number = option == "--seed" ? command_line.seed : command_line.work_ms;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc{} || end != value.data() + value.size()) return false;
    } else {
      return false;
    }
  }
  return !command_line.runner.empty();
}

// GoogleTest makes a failure of each exception, and that is right where it came from an answer: a number out
// of range, a text instead of a list. What the grader could not do, or the system refused, is never a wrong
// answer: it ends the program, without the last line of the report.
class Troubles : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!is_exception(result)) return;
    try {
      throw;
    } catch (const Trouble&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::system_error&) {
      throw;
    } catch (const dist::Error& error) {
      if (error.code() == dist::Errc::resource) throw;
    } catch (...) {
    }
  }
};

int say_fault(const std::exception& error) {
  fmt::print(stderr, "the grader could not do its work: {}\n", error.what());
  return exit_fault;
}

int run_tests(Report* report) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (report != nullptr) listeners.Append(report);
  listeners.Append(new Troubles);
  try {
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    return say_fault(error);
  }
}

}  // namespace

const std::string& runner() { return command_line.runner; }
std::uint64_t seed() { return command_line.seed; }
const std::string& traces() { return command_line.traces; }

int run_exam(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!parse(argc, argv)) {
    fmt::print(stderr,
               "usage: {} --runner PATH [--seed NUMBER] [--report FILE] [--traces FOLDER] [--build-work-ms "
               "NUMBER]\n",
               argv[0]);
    return exit_usage;
  }
  fmt::print("seed {}\n", seed());
  GTEST_FLAG_SET(catch_exceptions, true);
  try {
    const std::uint64_t beyond = std::max(command_line.work_ms, usual_work_ms) - usual_work_ms;
    progress().beyond = Milliseconds(static_cast<std::int64_t>(beyond));
    const Confined confined = confine(runner(), {});
    std::unique_ptr<Report> report;
    if (!command_line.report.empty())
      report = std::make_unique<Report>(command_line.report, seed(), name(confined.isolation));
    const int status = run_watched_tests([&] { return run_tests(report.get()); },
                                         [&](auto suite, auto test, auto how) {
                                           if (report) report->broken(suite, test, how);
                                         });
    if (report && status <= 1) report->end();
    return status;
  } catch (const std::exception& error) {
    return say_fault(error);
  }
}

}  // namespace judge
