#include <charconv>
#include <cstring>
#include <new>
#include <random>
#include <system_error>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/core/error.h"

#include "judge/child.h"
#include "judge/exam.h"
#include "judge/report.h"
#include "judge/sandbox.h"
#include "judge/trouble.h"

namespace judge {
namespace {

constexpr int exit_usage = 2, exit_fault = 3;

struct CommandLine {
  std::string runner, report;
  std::uint64_t seed = 0;
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
    } else if (option == "--seed") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), command_line.seed);
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

}  // namespace

const std::string& runner() { return command_line.runner; }
std::uint64_t seed() { return command_line.seed; }
const std::string& traces() { return command_line.traces; }

int run_exam(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!parse(argc, argv)) {
    fmt::print(stderr, "usage: {} --runner PATH [--seed NUMBER] [--report FILE] [--traces FOLDER]\n",
               argv[0]);
    return exit_usage;
  }
  fmt::print("seed {}\n", seed());
  GTEST_FLAG_SET(catch_exceptions, true);
  try {
    const Confined confined = confine(runner(), {});
    if (!command_line.report.empty())
      testing::UnitTest::GetInstance()->listeners().Append(
          new Report(command_line.report, seed(), name(confined.isolation)));
    testing::UnitTest::GetInstance()->listeners().Append(new Troubles);
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    fmt::print(stderr, "the grader could not do its work: {}\n", error.what());
    return exit_fault;
  }
}

}  // namespace judge
