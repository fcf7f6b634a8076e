// distlab start, reset, solution, submit: the one file of a lab that the student edits.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/fail.h"
#include "dist/core/whole_file.h"

#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/labs.h"
#include "distlab/progress.h"
#include "distlab/starter.h"
#include "distlab/submission.h"
#include "distlab/temporary_folder.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"
#include "distlab/workspace.h"
#include "distlab/zip_file.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

std::string from_root(const fs::path& path) { return fs::relative(path, workspace().root).string(); }

// Returns the name of a backup that does not exist yet.
fs::path backup_of(const fs::path& file) {
  for (int number = 1;; ++number) {
    const fs::path backup =
        workspace().root / ".distlab" / fmt::format("{}.{}", file.filename().string(), number);
    if (!fs::exists(backup)) return backup;
  }
}

struct Todo {
  std::string what;   // "lab 01, part 1: ..."
  std::string where;  // "labs/01_init_process_group/init_process_group.cpp:17"
};

std::optional<Todo> first_todo(const fs::path& file) {
  std::istringstream lines(text_of_file(file));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto at = line.find("DIST_TODO(\"");
    if (at == line.npos) continue;
    const auto begin = at + 11;
    return Todo{line.substr(begin, line.find('"', begin) - begin),
                fmt::format("{}:{}", from_root(file), number)};
  }
  return std::nullopt;
}

// The labs that the handout's line "Prerequisites:" links to: "02", "07".
std::vector<std::string> prerequisites_of(const Lab& lab) {
  const std::string page = text_of_file(handout(lab));
  const auto begin = page.find("**Prerequisites:**");
  const auto line = page.substr(std::min(begin, page.size()), page.find("\n- ", begin) - begin);
  std::vector<std::string> numbers;
  constexpr std::string_view link = "](../";
  for (auto at = line.find(link); at != line.npos; at = line.find(link, at + 1))
    if (const auto number = line.substr(at + link.size(), 2);
        number.find_first_not_of("0123456789") == number.npos)
      numbers.push_back(number);
  return numbers;
}

// "Labs 02, 07; you have not solved 07"
std::string said_before(const std::vector<std::string>& numbers) {
  std::vector<std::string> unsolved = numbers;
  for (const auto& [folder, mine] : read_progress())
    if (mine.is_solved()) std::erase(unsolved, folder.substr(0, 2));
  return fmt::format(
      "{} {}{}", numbers.size() == 1 ? "Lab" : "Labs", fmt::join(numbers, ", "),
      unsolved.empty() ? "" : fmt::format("; you have not solved {}", fmt::join(unsolved, ", ")));
}

}  // namespace

int start_lab(const LabOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  if (!fs::exists(edited_file(*lab)))
    dist::fail(dist::Errc::unsupported, "{} is missing; to get the untouched file: ./distlab reset {}",
               from_root(edited_file(*lab)), lab->number);
  const auto todo = first_todo(edited_file(*lab));
  fmt::print("{}\n\n", styled(Style::bold, lab->title));
  if (const auto before = prerequisites_of(*lab); !before.empty())
    fmt::print("  after  {}\n", said_before(before));
  fmt::print("  read   {}\n  edit   {}\n", from_root(handout(*lab)), from_root(edited_file(*lab)));
  if (todo)
    fmt::print("  first  {}\n         {}\n", todo->what, todo->where);
  else
    fmt::print("  first  everything is written; grade it\n");
  fmt::print(
      "\n./distlab run {0}     see what your code does\n./distlab grade {0}   is it right, and if not, "
      "why?\n",
      lab->number);
  return exit_ok;
}

int reset_lab(const LabOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  const fs::path file = edited_file(*lab);
  const std::string starter = starter_of(*lab);
  if (fs::exists(file) && text_of_file(file) == starter) {
    fmt::print("{} is the untouched file already\n", from_root(file));
    return exit_ok;
  }
  std::string kept;
  if (fs::exists(file)) {
    fs::create_directories(workspace().root / ".distlab");
    const fs::path backup = backup_of(file);
    dist::write_whole_file(backup, text_of_file(file));
    kept = fmt::format("; your file is kept in {}", from_root(backup));
  }
  dist::write_whole_file(file, starter);
  forget_grade(lab->folder);
  fmt::print("{} is the untouched file again{}\n", from_root(file), kept);
  return exit_ok;
}

int show_solution(const SolutionOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  if (!has_solution(*lab)) {
    fmt::print(stderr, no_solutions);
    return exit_missing;
  }
  const auto progress = read_progress();
  const auto mine = progress.find(lab->folder);
  const bool has_passed = mine != progress.end() && mine->second.is_solved();
  if (!has_passed && !options.spoil) {
    fmt::print(
        stderr,
        "you have not solved lab {} yet; the last hints are nearly code: ./distlab hint {} --level 3. To see "
        "the solution anyway: ./distlab solution {} --spoil\n",
        lab->number, lab->number, lab->number);
    return exit_failed;
  }
  const fs::path folder = workspace().root / "solutions" / lab->folder;
  fmt::print("{}\n", text_of_file(folder / edited_file(*lab).filename()));
  fmt::print("// The reasons are in {}\n", from_root(folder / "NOTES.md"));
  return exit_ok;
}

// Builds the file as `grade --submission` does, so that students do not hand in a file that will be refused.
int submit_lab(const SubmitOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  const fs::path file = edited_file(*lab);
  const fs::path zip =
      options.output.empty() ? fs::path(fmt::format("lab_{:02}.zip", lab->number)) : options.output;
  check_output("--output", zip);
  const TemporaryFolder folder("submission");
  Waiting waiting("building your file as the grader does");
  if (const auto built = build_submission(*lab, file, folder.path()); !built.refused.empty()) {
    waiting.clear();
    fmt::print(stderr, "{}\nNo zip file was made; fix this first.\n", built.refused);
    return exit_failed;
  }
  waiting.clear();
  write_zip(zip, workspace().root, {from_root(file)});
  fmt::print("{} contains {} ({} bytes), which compiles. Hand in this zip file.\n", zip.string(),
             from_root(file), fs::file_size(file));
  if (const auto todo = first_todo(file))
    fmt::print("Something is not written yet: {}\n  {}\n", todo->where, todo->what);
  return exit_ok;
}

}  // namespace distlab
