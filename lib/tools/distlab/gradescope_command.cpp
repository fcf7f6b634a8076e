// distlab gradescope build: an autograder to upload.
#include <fstream>

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/commands.h"
#include "distlab/labs.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// What git tracks, from the checkout's root; nothing where git knows nothing of it.
std::vector<fs::path> tracked_files() {
  const auto listed = run_captured({"git", "-C", workspace().root, "ls-files", "-z"});
  std::vector<fs::path> files;
  if (listed.exit_code != 0) return files;
  for (std::size_t begin = 0, end; (end = listed.output.find('\0', begin)) != std::string::npos;
       begin = end + 1) {
    const fs::path file = listed.output.substr(begin, end - begin);
    if (fs::exists(fs::symlink_status(workspace().root / file))) files.push_back(file);  // not deleted since
  }
  return files;
}

bool is_left_out(const fs::path& at_the_top) {
  const auto name = at_the_top.filename().string();
  return name.starts_with("build") || name == ".git" || name == ".distlab" || name == "node_modules";
}

// Without git: all files but those that builds and students make.
std::vector<fs::path> files_on_disk() {
  std::vector<fs::path> files;
  const auto root = workspace().root;
  for (fs::recursive_directory_iterator entry(root), end; entry != end; ++entry) {
    if (entry.depth() == 0 && is_left_out(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_symlink() || entry->is_regular_file()) {
      files.push_back(fs::relative(entry->path().parent_path(), root) / entry->path().filename());
    }
  }
  return files;
}

void copy_checkout(const fs::path& to) {
  auto files = tracked_files();
  if (files.empty()) files = files_on_disk();
  for (const auto& file : files) {
    fs::create_directories((to / file).parent_path());
    fs::copy(workspace().root / file, to / file, fs::copy_options::copy_symlinks);
  }
}

std::string default_name(const std::optional<Lab>& lab) {
  return lab ? fmt::format("autograder_lab_{:02}.zip", lab->number) : "autograder.zip";
}

}  // namespace

int build_autograder(const GradescopeOptions& options) {
  std::optional<Lab> lab;
  if (!options.lab.empty() && !(lab = asked_lab(options.lab))) return exit_usage;
  const fs::path zip = fs::absolute(options.output.empty() ? fs::path(default_name(lab)) : options.output);
  const TemporaryFolder folder("autograder");
  copy_checkout(folder.path() / "distlab");
  for (const auto* script : {"setup.sh", "run_autograder"}) {
    fs::copy(workspace().root / "lib/tools/gradescope" / script, folder.path() / script);
  }
  std::ofstream(folder.path() / "lab") << (lab ? std::to_string(lab->number) : "");
  const auto made = run_captured({"cmake", "-E", "chdir", folder.path(), "cmake", "-E", "tar", "cf", zip,
                                  "--format=zip", "setup.sh", "run_autograder", "lab", "distlab"});
  if (made.exit_code != 0) dist::fail(dist::Errc::resource, "cannot write {}: {}", zip.string(), made.output);
  fmt::print("{} ({:.1f} MB), for {}: upload it as the assignment's autograder.\n", zip.string(),
             static_cast<double>(fs::file_size(zip)) / 1e6,
             lab ? lab->title : "any lab that an assignment's title names (\"Lab 5: ...\")");
  fmt::print("It holds all solutions and questions: keep it where students cannot look.\n");
  return exit_ok;
}

}  // namespace distlab
