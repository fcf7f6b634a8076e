// The labs of this checkout and where their parts lie.
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

// All of labs/NN_name, by number.
std::vector<Lab> find_labs();
// "1", "01" or the beginning of a name. Throws dist::Error{invalid_argument} listing what there is.
Lab find_lab(const std::string& asked);
// The same for commands: nothing when there is no such lab; that has been said.
std::optional<Lab> asked_lab(const std::string& asked);

// Said by what needs solutions/ in a tree that has none.
inline constexpr auto no_solutions =
    "this checkout has no solutions: it was made for students; whoever teaches the course has them\n";

// The handout, or one of its hints (levels 1 to 3), in English or Chinese.
std::filesystem::path handout(const Lab& lab);
std::filesystem::path hint_page(const Lab& lab, int level, bool chinese);
// The one file its reader edits.
std::filesystem::path edited_file(const Lab& lab);
// A program of the lab in the build tree: "demo", "runner", "grade", "solution_demo". Throws
// dist::Error{unsupported} saying how to build it when it is not there.
std::filesystem::path lab_program(const Lab& lab, const std::string& what);

}  // namespace distlab
