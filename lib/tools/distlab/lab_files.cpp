// distlab start, reset, solution, submit: the one file of a lab that its reader edits.
#include <cstdio>
#include <optional>
#include <sstream>

#include <fmt/format.h>

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
#include "distlab/workspace.h"
#include "distlab/zip_file.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

std::string from_root(const fs::path& path) { return fs::relative(path, workspace().root).string(); }

// A name beside the file that nothing has yet.
fs::path backup_of(const fs::path& file) {
  for (int number = 1;; ++number) {
    const fs::path backup =
        workspace().root / ".distlab" / fmt::format("{}.{}", file.filename().string(), number);
    if (!fs::exists(backup)) return backup;
  }
}

struct Todo {
  std::string what;   // "lab 01, step 1: ..."
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

}  // namespace

int start_lab(const LabOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  if (!fs::exists(edited_file(*lab)))
    dist::fail(dist::Errc::unsupported, "{} is missing; ./distlab reset {} puts it back as it was",
               from_root(edited_file(*lab)), lab->number);
  const auto todo = first_todo(edited_file(*lab));
  fmt::print("{}\n\n  read   {}\n  edit   {}\n", styled(Style::bold, lab->title), from_root(handout(*lab)),
             from_root(edited_file(*lab)));
  if (todo)
    fmt::print("  first  {}\n         {}\n", todo->what, todo->where);
  else
    fmt::print("  first  nothing is left to write; is it right?\n");
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
    fmt::print("{} is untouched already\n", from_root(file));
    return exit_ok;
  }
  std::string kept;
  if (fs::exists(file)) {
    fs::create_directories(workspace().root / ".distlab");
    const fs::path backup = backup_of(file);
    dist::write_whole_file(backup, text_of_file(file));
    kept = fmt::format("; yours is kept in {}", from_root(backup));
  }
  dist::write_whole_file(file, starter);
  forget_grade(lab->folder);
  fmt::print("{} is as it was at first{}\n", from_root(file), kept);
  return exit_ok;
}

int show_solution(const SolutionOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  const auto progress = read_progress();
  const auto mine = progress.find(lab->folder);
  const bool has_passed = mine != progress.end() && mine->second.is_solved();
  if (!has_passed && !options.spoil) {
    fmt::print(
        stderr,
        "lab {} is not solved yet; ./distlab hint {} --level 3 is nearly code. To see the solution all the "
        "same: ./distlab solution {} --spoil\n",
        lab->number, lab->number, lab->number);
    return exit_failed;
  }
  const fs::path folder = workspace().root / "solutions" / lab->folder;
  if (!fs::exists(folder)) {
    fmt::print(stderr, no_solutions);
    return exit_missing;
  }
  fmt::print("{}\n", text_of_file(folder / edited_file(*lab).filename()));
  fmt::print("// why it is done that way: {}\n", from_root(folder / "NOTES.md"));
  return exit_ok;
}

// Built as whoever grades it will, so that nothing is handed in that is refused there.
int submit_lab(const SubmitOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  const fs::path file = edited_file(*lab);
  const fs::path zip =
      options.output.empty() ? fs::path(fmt::format("lab_{:02}.zip", lab->number)) : options.output;
  check_output("--output", zip);
  const TemporaryFolder folder("submission");
  if (const auto built = build_submission(*lab, file, folder.path()); !built.refused.empty()) {
    fmt::print(stderr, "{}\nNothing was made to hand in.\n", built.refused);
    return exit_failed;
  }
  write_zip(zip, workspace().root, {from_root(file)});
  fmt::print("{}: {} ({} bytes), which compiles. Hand in this file.\n", zip.string(), from_root(file),
             fs::file_size(file));
  if (const auto todo = first_todo(file))
    fmt::print("Not everything is written yet: {}\n  {}\n", todo->where, todo->what);
  return exit_ok;
}

}  // namespace distlab
