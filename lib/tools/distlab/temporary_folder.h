// Temporary files: the folder for them, and a folder that is removed with everything in it.
#pragma once

#include <filesystem>
#include <string_view>

namespace distlab {

// Returns TMPDIR, or /tmp. Throws dist::Error{unsupported} when that folder does not exist.
std::filesystem::path temporary_root();

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
