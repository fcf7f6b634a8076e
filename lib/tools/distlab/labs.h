// The labs of this checkout, and where their files are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace distlab {

struct Lab {
  int number = 0;
  std::string folder;  // "01_init_process_group"
  std::string title;   // the handout's first heading: "Lab 01: n processes become one group"
};

// Returns all labs (labs/NN_name), by number.
std::vector<Lab> find_labs();
// `asked` is "1", "01" or the beginning of a name. Throws dist::Error{invalid_argument} that lists the labs.
Lab find_lab(const std::string& asked);
// The same for commands: if there is no such lab, prints the error and returns nothing.
std::optional<Lab> asked_lab(const std::string& asked);

// False in a tree for students.
bool has_solution(const Lab& lab);
// The error of commands that need solutions/ in a tree without them.
inline constexpr auto no_solutions =
    "this checkout has no solutions: it was made for students; ask your instructor\n";

// The handout, and the pages of hints (levels 1 to 3) in English or Chinese.
std::filesystem::path handout(const Lab& lab);
std::filesystem::path hint_page(const Lab& lab, int level, bool chinese);
// The one file that the student edits.
std::filesystem::path edited_file(const Lab& lab);
// Returns a program of the lab in the build tree: "demo", "runner", "grade", "solution_demo". If it does not
// exist, throws dist::Error{unsupported} that says how to build it.
std::filesystem::path lab_program(const Lab& lab, const std::string& what);

}  // namespace distlab
