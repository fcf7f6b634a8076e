// distlab class grade.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

#include "distlab/class/crew.h"
#include "distlab/class/grades.h"
#include "distlab/class/progress.h"
#include "distlab/commands.h"
#include "distlab/digest.h"
#include "distlab/file_text.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

unsigned half_the_cores() { return std::max(1U, std::thread::hardware_concurrency() / 2); }

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto from = fs::weakly_canonical(path).lexically_relative(fs::canonical(folder));
  return !from.empty() && *from.begin() != "..";
}

// Grades depend on the submission, the seed, and these: the grader, the program that builds, and the library.
std::string digest_of_grader(const Lab& lab) {
  std::string all;
  for (const auto& program :
       {lab_program(lab, "grade"), lab_program(lab, "runner"), workspace().build / "bin/judge_build",
        workspace().build / "lib/libdist_student.so"}) {
    if (fs::exists(program)) all += digest_of_tree(fs::canonical(program));
  }
  return digest_of_text(all);
}

class ClassGrading {
 public:
  ClassGrading(Lab lab, fs::path output, const ClassGradeOptions& options)
      : lab_(std::move(lab)), output_(std::move(output)), seed_(seed_of(options)) {
    fs::create_directories(output_ / "results");
    if (!replace_file(seed_file(), fmt::format("{}\n", seed_)))
      dist::fail(dist::Errc::resource, "cannot write the grades to {}", output_.string());
  }

  // Returns false when it was interrupted.
  bool grade(const Entries& entries, const ClassGradeOptions& options);
  int write_tables();

 private:
  // Without --seed, takes the seed of the last run, so that the grading can continue.
  std::uint64_t seed_of(const ClassGradeOptions& options) const {
    std::uint64_t last = 0;
    if (options.seed) return *options.seed;
    if (std::ifstream(seed_file()) >> last) return last;
    return std::random_device()();
  }
  fs::path seed_file() const { return output_ / "seed"; }
  fs::path file_of(const std::string& student) const {
    return output_ / "results" / file_name_for(student, ".json");
  }
  void keep(const ClassResult& result);
  std::vector<Task> without_the_known(const Entries& entries, bool again);

  Lab lab_;
  fs::path output_;
  std::uint64_t seed_;
  std::map<std::string, ClassResult> results_;  // by name
};

void ClassGrading::keep(const ClassResult& result) {
  if (!replace_file(file_of(result.name), as_json(result)))
    dist::fail(dist::Errc::resource, "the grade of {} cannot be written", result.name);
  results_[result.name] = result;
}

std::vector<Task> ClassGrading::without_the_known(const Entries& entries, bool again) {
  const auto grader = digest_of_grader(lab_);
  std::vector<Task> tasks;
  for (const auto& entry : entries.all) {
    const auto key = fmt::format("{} {} {}", digest_of_submission(entry.path), grader, seed_);
    auto known = read_class_result(text_of_file(file_of(entry.name)));
    known.name = entry.name;
    if (!entry.refused.empty()) {
      ClassResult result{.name = entry.name, .key = key, .status = ClassResult::Status::refused};
      result.reason = entry.path.filename().string() + " " + entry.refused;
      keep(result);
    } else if (known.status != ClassResult::Status::ungraded && known.key == key && !again) {
      results_[entry.name] = known;
    } else {
      tasks.push_back({entry, key});
    }
  }
  return tasks;
}

bool ClassGrading::grade(const Entries& entries, const ClassGradeOptions& options) {
  auto tasks = without_the_known(entries, options.again);
  const auto refused =
      std::ranges::count_if(entries.all, [](const Entry& entry) { return !entry.refused.empty(); });
  ClassProgress progress(entries.all.size(), tasks.size() + static_cast<std::size_t>(refused));
  for (const auto& entry : entries.all)
    if (!entry.refused.empty()) progress.add(results_.at(entry.name));
  Crew crew(lab_, seed_, options.jobs > 0 ? options.jobs : half_the_cores());
  const bool is_done = crew.grade(
      std::move(tasks),
      [&](const ClassResult& result) {
        keep(result);
        progress.add(result);
      },
      [&](const std::vector<std::string>& names) { progress.show(names); });
  if (!is_done)
    fmt::print(stderr, "interrupted; already graded: {} of {}; the same command continues from there\n",
               results_.size(), dist::counted(entries.all.size(), "submission"));
  return is_done;
}

int ClassGrading::write_tables() {
  ClassGrades grades{.lab = lab_.title, .seed = seed_};
  for (const auto& [student, result] : results_) grades.results.push_back(result);
  const bool is_written = replace_file(output_ / "grades.csv", as_csv(grades)) &&
                          replace_file(output_ / "grades.json", as_json(grades)) &&
                          replace_file(output_ / "report.html", as_html(grades));
  const auto ungraded =
      std::ranges::count(grades.results, ClassResult::Status::ungraded, &ClassResult::status);
  if (const auto warning = caveat(grades); !warning.empty()) fmt::print("{}\n", warning);
  if (ungraded > 0)
    fmt::print("not graded, because the grader failed: {} of {}; the same command tries again\n", ungraded,
               dist::counted(grades.results.size(), "submission"));
  if (is_written)
    fmt::print("{}\n{}\n", (output_ / "grades.csv").string(), (output_ / "report.html").string());
  return is_written && ungraded == 0 ? exit_ok : exit_missing;
}

int usage(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  return exit_usage;
}

}  // namespace

int grade_class(const ClassGradeOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  if (!fs::is_directory(options.folder))
    return usage(
        fmt::format("{} is not a folder; name the folder of the submissions", options.folder.string()));
  const auto output = fs::absolute(
      options.output.empty() ? fs::path(fmt::format("class_lab_{:02}", lab->number)) : options.output);
  if (is_within(output, options.folder))
    return usage(
        fmt::format("{} is inside the folder of submissions and would count as one; choose another --out",
                    output.string()));
  const auto entries = find_entries(options.folder);
  if (entries.all.empty())
    return usage(fmt::format("there are no submissions in {}", options.folder.string()));
  if (entries.left_out > 0) fmt::print("hidden entries that are left out: {}\n", entries.left_out);
  ClassGrading grading(*lab, output, options);
  return grading.grade(entries, options) ? grading.write_tables() : exit_failed;
}

}  // namespace distlab
