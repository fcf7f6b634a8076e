// A folder that lasts as long as its object.
#pragma once

#include <filesystem>

namespace distlab {

class TemporaryFolder {
 public:
  TemporaryFolder();   // Throws dist::Error{resource} when the system refuses.
  ~TemporaryFolder();  // with all that is in it
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace distlab
