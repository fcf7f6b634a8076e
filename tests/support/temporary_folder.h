// A folder of a test's own, which is removed with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace dist::test {

struct TemporaryFolder {
  std::filesystem::path path;

  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "distlab-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("a temporary folder: " + name);
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace dist::test
