// What ranks of this test may have left in a folder that all programs of the machine share.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <system_error>

namespace dist::test {

// Other programs come and go there while a test runs: Open MPI's segments ("vader_segment...") and ./distlab
// in other tests ("distlab-grade-..."). Only names that the library itself could give count.
inline std::set<std::string> left_files_in(const char* folder) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("dist") && !name.starts_with("distlab-")) names.insert(entry.path());
  }
  return names;
}

}  // namespace dist::test
