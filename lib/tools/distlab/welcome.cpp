#include "distlab/welcome.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/grading.h"

namespace distlab {
namespace {

bool is_solved(const Lab& lab, const Progress& progress) {
  const auto found = progress.find(lab.folder);
  return found != progress.end() && found->second.is_solved();
}

// Returns the lab of the last grade until it is solved, then the next lab that is not. When all labs are
// solved, returns labs.end().
std::vector<Lab>::const_iterator lab_to_do(const std::vector<Lab>& labs, const Progress& progress) {
  const auto when = [&](const Lab& lab) {
    const auto found = progress.find(lab.folder);
    return found == progress.end() ? std::string() : found->second.when;
  };
  const auto last = std::ranges::max_element(labs, {}, when);
  const auto is_open = [&](const Lab& lab) { return !is_solved(lab, progress); };
  const auto next = std::find_if(last, labs.end(), is_open);
  return next != labs.end() ? next : std::ranges::find_if(labs, is_open);
}

std::string line(const std::string& command, const std::string& what) {
  return fmt::format("  ./distlab {:<9} {}\n", command, what);
}

std::string first_day(const Lab& lab) {
  return "Start here:\n" + line("demo", "a tour in half a minute") +
         line(fmt::format("start {}", lab.number), fmt::format("begin {}", lab.title));
}

// The commands for a lab that has been graded, or that comes next.
std::string next_lab(const Lab& lab, const LabProgress& mine) {
  const auto with_number = [&](const char* command) { return fmt::format("{} {}", command, lab.number); };
  if (!mine.is_graded())
    return fmt::format("Next: {}\n", lab.title) +
           line(with_number("start"), "what to read and what to edit") +
           line(with_number("watch"), "build and grade whenever you save");
  const auto where =
      mine.failing.empty() ? "" : fmt::format("; part {}, \"{}\", fails", mine.part, title_of(mine.failing));
  return fmt::format("Next: {}\nYour last grade has {} of {} points{}.\n", lab.title, mine.last, full_score,
                     where) +
         line(with_number("watch"), "build and grade whenever you save") +
         line(with_number("hint"), "get a hint about what the last grade found");
}

}  // namespace

std::string welcome_page(const std::vector<Lab>& labs, const Progress& progress) {
  std::string page = "distlab: a teaching lab for distributed training\n\n";
  const auto lab = lab_to_do(labs, progress);
  const auto solved = std::ranges::count_if(labs, [&](const Lab& each) { return is_solved(each, progress); });
  if (lab == labs.end()) {
    page +=
        fmt::format("You have solved all {} labs.\n", labs.size()) + line("train", "a complete training run");
  } else if (progress.empty()) {
    page += first_day(*lab);
  } else {
    const auto mine = progress.find(lab->folder);
    page += fmt::format("You have solved {} of {} labs.\n", solved, labs.size()) +
            next_lab(*lab, mine == progress.end() ? LabProgress{} : mine->second);
  }
  return page + line("list", "all labs and your points") + line("--help", "all commands");
}

bool print_welcome() {
  std::vector<Lab> labs;
  try {
    labs = find_labs();
  } catch (const dist::Error&) {
    return false;
  }
  if (labs.empty()) return false;
  fmt::print("{}", welcome_page(labs, read_progress()));
  return true;
}

}  // namespace distlab
