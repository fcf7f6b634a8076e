// Entries: the submissions of a class as they lie in a folder, one a file or folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace distlab {

struct Entry {
  std::string name;  // the student's: that of the entry, without .zip or .cpp where that is unique
  std::filesystem::path path;
  std::string refused = {};  // why nothing of it can be graded: it is a link or a device
};

struct Entries {
  std::vector<Entry> all;  // by name
  int left_out = 0;        // hidden ones (.DS_Store) and what archives add (__MACOSX)
};

// Throws std::filesystem::filesystem_error.
Entries find_entries(const std::filesystem::path& folder);

// A file name for what is known of a student, whatever the name: too long ones are cut and told apart.
std::string file_name_for(const std::string& student, const std::string& extension);

}  // namespace distlab
