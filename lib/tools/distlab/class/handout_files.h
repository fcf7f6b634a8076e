// Which files of the checkout students get, and what no file of their tree may name.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace distlab {

// True for what is on the list of files and folders for students; `file` is relative to the checkout. Those
// of the grading of a lab are the sources in its folder, except wrong answers.
bool is_for_students(const std::filesystem::path& file);

// True for a file with solutions or wrong answers, lines of which no student may get.
bool is_secret(const std::filesystem::path& file);

// The names of the wrong answers, from their files, and of the cheats. Without
// those that are a single word, which any text may use.
std::set<std::string> secret_names();

// A name among these that the file uses, or that is in its path; empty if there is none. The grader's sources
// may use them, and all sources may have functions of that name.
std::string named_in(const std::filesystem::path& tree, const std::filesystem::path& file,
                     const std::set<std::string>& names);

// The README.md of a tree for students.
std::string handout_readme();

}  // namespace distlab
