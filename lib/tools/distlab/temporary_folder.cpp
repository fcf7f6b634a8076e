#include "distlab/temporary_folder.h"

#include <cerrno>

#include <fmt/format.h>
#include <stdlib.h>

#include "dist/core/fail.h"

namespace distlab {
namespace fs = std::filesystem;

fs::path temporary_root() {
  std::error_code none;
  const fs::path root = fs::temp_directory_path(none);
  if (!none) return root;
  const char* const named = ::getenv("TMPDIR");
  dist::fail(dist::Errc::unsupported, "TMPDIR is {}, which is not a folder; create it, or unset TMPDIR",
             named ? named : "not set and /tmp is missing");
}

TemporaryFolder::TemporaryFolder(std::string_view purpose) {
  auto pattern = (temporary_root() / fmt::format("distlab-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    dist::fail_errno(dist::Errc::resource, errno, "cannot create a temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace distlab
