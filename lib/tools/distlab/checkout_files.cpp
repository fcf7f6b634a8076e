#include "distlab/checkout_files.h"

#include <string>

#include "dist/core/fail.h"

#include "distlab/process.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// Returns nothing if git does not know the checkout. git only reads, so the owner of the checkout does not
// matter (safe.directory).
std::vector<fs::path> tracked_files() {
  const std::string root = workspace().root;
  const auto listed = run_captured({"git", "-c", "safe.directory=" + root, "-C", root, "ls-files", "-z"});
  std::vector<fs::path> files;
  if (listed.exit_code != 0) {
    if (fs::exists(workspace().root / ".git"))
      dist::fail(dist::Errc::unsupported, "git cannot list the files of {}: {}", root, listed.output);
    return files;
  }
  for (std::size_t begin = 0, end; (end = listed.output.find('\0', begin)) != std::string::npos;
       begin = end + 1) {
    const fs::path file = listed.output.substr(begin, end - begin);
    if (fs::exists(fs::symlink_status(workspace().root / file))) files.push_back(file);  // not deleted since
  }
  return files;
}

// Builds, grades and packed files, which users and commands leave in a checkout.
bool is_left_out(const fs::path& at_the_top) {
  const auto name = at_the_top.filename().string();
  const auto begins = [&](const char* with) { return name.starts_with(with); };
  return begins("build") || begins("class_lab_") || begins("distlab_handout") || name.ends_with(".zip") ||
         name == ".git" || name == ".distlab" || name == "node_modules";
}

std::vector<fs::path> files_on_disk() {
  std::vector<fs::path> files;
  const auto root = workspace().root;
  for (fs::recursive_directory_iterator entry(root), end; entry != end; ++entry) {
    if (entry.depth() == 0 && is_left_out(entry->path())) {
      if (entry->is_directory()) entry.disable_recursion_pending();
    } else if (entry->is_symlink() || entry->is_regular_file()) {
      files.push_back(entry->path().lexically_relative(root));
    }
  }
  return files;
}

}  // namespace

std::vector<fs::path> checkout_files() {
  auto files = tracked_files();
  return files.empty() ? files_on_disk() : files;
}

void copy_checkout_file(const fs::path& file, const fs::path& to) {
  fs::create_directories((to / file).parent_path());
  fs::copy(workspace().root / file, to / file, fs::copy_options::copy_symlinks);
}

}  // namespace distlab
