#include "distlab/temporary_folder.h"

#include <cerrno>

#include <fmt/format.h>
#include <stdlib.h>

#include "dist/core/fail.h"

namespace distlab {
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(std::string_view purpose) {
  auto pattern = (fs::temp_directory_path() / fmt::format("distlab-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    dist::fail_errno(dist::Errc::resource, errno, "no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace distlab
