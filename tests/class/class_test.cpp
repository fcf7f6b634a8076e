// Grades a made-up class as an instructor would, interrupted on the way, and compares all verdicts with those
// that make_class.sh expects. No process, mount or file may be left behind.
//   class_test COUNT [LAB]    submissions, at least sixteen, which are one of each kind; of lab 7 if it is
//   not given
// Exit status 77: there is no sandbox here.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "distlab/class/class_result.h"
#include "distlab/class/entries.h"
#include "distlab/class/grades.h"
#include "distlab/file_text.h"
#include "distlab/process.h"
#include "distlab/stray_processes.h"
#include "distlab/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using distlab::ClassResult;

constexpr int skipped = 77;

struct Expected {
  std::string verdict, name;
};

std::vector<Expected> read_expected(const fs::path& file) {
  std::vector<Expected> all;
  std::istringstream records(distlab::text_of_file(file));
  for (std::string record; std::getline(records, record, '\0');) {
    const auto tab = record.find('\t');
    all.push_back({record.substr(0, tab), record.substr(tab + 1)});
  }
  return all;
}

bool fails(const ClassResult& result, const std::string& test) {
  return std::ranges::all_of(result.gradings, [&](const distlab::Grade& grade) {
    return !grade.is_full() && std::ranges::any_of(grade.tests, [&](const distlab::GradedTest& each) {
      return each.name == test && each.result != distlab::GradedTest::Result::passed;
    });
  });
}

bool is_as_expected(const ClassResult& result, const std::string& verdict) {
  const auto colon = verdict.find(':');
  const auto kind = verdict.substr(0, colon), detail = colon == verdict.npos ? "" : verdict.substr(colon + 1);
  const bool is_graded = result.status == ClassResult::Status::graded;
  if (kind == "killed") return is_graded && fails(result, detail);
  if (kind == "refused")
    return result.status == ClassResult::Status::refused && result.reason.find(detail) != detail.npos;
  const bool is_known = result.status != ClassResult::Status::ungraded;  // a cheat may be refused
  return is_known && result.score() == std::stoi(kind) && !result.is_flaky();
}

class MadeUpClass {
 public:
  MadeUpClass(const std::string& count, const std::string& lab) : lab_(lab) {
    fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    const auto made = distlab::run_captured({MAKE_CLASS, made_, count, lab});
    if (made.exit_code != 0) throw std::runtime_error("make_class.sh: " + made.output);
    fs::create_directory(temporary_);
    fs::permissions(temporary_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    ::setenv("TMPDIR", temporary_.c_str(), 1);
    ::setenv("DISTLAB_ROOT", CHECKOUT, 1);
    ::setenv("DISTLAB_BUILD", BUILD, 1);
  }

  // Ended by Ctrl-C after this many seconds; 0: not at all.
  distlab::ProcessResult grade(int seconds) const {
    std::vector<std::string> argv{DISTLAB_PROGRAM, "class", "grade",  made_ / "class",
                                  "--lab",         lab_,    "--out",  grades_,
                                  "--jobs",        "2",     "--seed", "20261121"};
    if (seconds > 0) argv.insert(argv.begin(), {"timeout", "-s", "INT", std::to_string(seconds)});
    return distlab::run_captured(argv);
  }

  // How many are not as they should be; each has been reported.
  int unexpected() const {
    const auto expected = read_expected(made_ / "expected");
    int wrong = expected.empty() ? 1 : 0;
    for (const auto& [verdict, name] : expected) {
      const auto result = result_of(name);
      if (is_as_expected(result, verdict)) continue;
      ++wrong;
      fmt::print("UNEXPECTED {}: {} of 100, {}{}: {}; should be {}\n", name, result.score(),
                 distlab::name(result.status), result.is_flaky() ? ", flaky" : "", result.reason, verdict);
    }
    return wrong;
  }
  // The table has a row for each submission, as its result says, and the report has their sums.
  void expect_tables() const {
    distlab::ClassGrades grades;
    for (const auto& each : read_expected(made_ / "expected")) grades.results.push_back(result_of(each.name));
    std::ranges::sort(grades.results, {}, &ClassResult::name);
    if (distlab::text_of_file(grades_ / "grades.csv") != distlab::as_csv(grades))
      throw std::runtime_error("grades.csv does not say what the results say");
    const auto count = [&](ClassResult::Status status) {
      return std::ranges::count(grades.results, status, &ClassResult::status);
    };
    const auto sums = fmt::format("<p>{} submissions: {} graded, {} refused (0 points), 0 ungraded, 0 flaky.",
                                  grades.results.size(), count(ClassResult::Status::graded),
                                  count(ClassResult::Status::refused));
    if (distlab::text_of_file(grades_ / "report.html").find(sums) == std::string::npos)
      throw std::runtime_error("report.html does not say: " + sums);
  }
  bool is_practice() const {
    return std::ranges::any_of(read_expected(made_ / "expected"),
                               [&](const Expected& each) { return result_of(each.name).is_practice(); });
  }

  void expect_nothing_left_behind(const std::string& mounts_before) const {
    if (!fs::is_empty(temporary_))
      throw std::runtime_error("left behind: " + fs::directory_iterator(temporary_)->path().string());
    if (::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD)
      throw std::runtime_error("a process was left behind");
    if (distlab::text_of_file("/proc/self/mounts") != mounts_before)
      throw std::runtime_error("mounts have changed");
    for (const auto& entry : fs::directory_iterator(grades_ / "results")) {
      if (entry.path().extension() != ".json")
        throw std::runtime_error("half a result: " + entry.path().string());
    }
  }

 private:
  ClassResult result_of(const std::string& name) const {
    return distlab::read_class_result(
        distlab::text_of_file(grades_ / "results" / distlab::file_name_for(name, ".json")));
  }

  const std::string lab_;
  const distlab::TemporaryFolder folder_{"made-up-class"};
  const fs::path made_ = folder_.path() / "made", grades_ = folder_.path() / "grades",
                 temporary_ = folder_.path() / "temporary";
};

// What all processes so far took, and the largest of them.
std::string costs() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return fmt::format("{:.0f} s of user time, {:.0f} s of system time, at most {} MiB in a process",
                     seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss / 1024);
}

int test(const std::string& count, const std::string& lab) {
  distlab::adopt_stray_processes();  // so that whatever is left behind becomes a child of ours
  const MadeUpClass made_up(count, lab);
  const auto mounts = distlab::text_of_file("/proc/self/mounts");
  constexpr int soon = 8, interrupted = 124;
  const auto begun = made_up.grade(soon);
  fmt::print("{}\n", begun.output);
  if (begun.exit_code != interrupted) throw std::runtime_error("it was to be interrupted");
  made_up.expect_nothing_left_behind(mounts);
  const auto ended = made_up.grade(0);
  fmt::print("{}\n{}\n", ended.output, costs());
  if (ended.exit_code != 0) throw std::runtime_error(fmt::format("it ended with status {}", ended.exit_code));
  made_up.expect_nothing_left_behind(mounts);
  if (made_up.is_practice()) {
    fmt::print("skipped: there is no sandbox here, and cheats do nothing outside of one\n");
    return skipped;
  }
  if (made_up.unexpected() > 0) return 1;
  made_up.expect_tables();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: {} COUNT [LAB]\n", argv[0]);
    return 2;
  }
  try {
    return test(argv[1], argc == 3 ? argv[2] : "7");
  } catch (const std::exception& error) {
    fmt::print("UNEXPECTED: {}\n", error.what());
    return 1;
  }
}
