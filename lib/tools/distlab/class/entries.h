// Entries: the submissions of a class in a folder; each file or folder is one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace distlab {

struct Entry {
  std::string name;  // of the student: the entry's name, without .zip or .cpp if that is unique
  std::filesystem::path path;
  std::string refused = {};  // why it cannot be graded: it is a link or a device; empty: it can
};

struct Entries {
  std::vector<Entry> all;  // by name
  int left_out = 0;        // hidden files (.DS_Store) and files that archives add (__MACOSX)
};

// Throws std::filesystem::filesystem_error.
Entries find_entries(const std::filesystem::path& folder);

// Returns a file name for the result of a student. A name that is too long is shortened, but stays unique.
std::string file_name_for(const std::string& student, const std::string& extension);

}  // namespace distlab
