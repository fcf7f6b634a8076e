// A folder that is removed with all that is in it.
#pragma once

#include <cerrno>
#include <filesystem>

#include <stdlib.h>

#include "dist/core/fail.h"

namespace distlab {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto pattern = (std::filesystem::temp_directory_path() / "distlab-grade-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      dist::fail_errno(dist::Errc::resource, errno, "no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace distlab
