// A folder that is removed with all that is in it.
#pragma once

#include <filesystem>
#include <string_view>

namespace distlab {

class TemporaryFolder {
 public:
  // Its name begins with distlab-<purpose>. Throws dist::Error{resource}.
  explicit TemporaryFolder(std::string_view purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace distlab
