#include "judge/libraries.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <link.h>
#include <sys/statvfs.h>

#include "judge/confined_run.h"
#include "judge/trouble.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

// Files of the libraries that this program has loaded.
std::set<std::string> own_libraries() {
  std::set<std::string> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* to) {
        if (object->dlpi_name[0] == '/') static_cast<std::set<std::string>*>(to)->insert(object->dlpi_name);
        return 0;
      },
      &found);
  return found;
}

bool is_loader(const std::string& library) {
  return fs::path(library).filename().string().starts_with("ld-");
}

bool is_systems(const std::string& path) { return path.starts_with("/usr/") || path.starts_with("/lib"); }

// "libc.so.6 => /lib/libc.so.6 (0x00007f)", or the path alone.
std::string path_in(const std::string& line) {
  const auto begin = line.find('/'), end = line.find(" (0x");
  return begin == line.npos || end == line.npos || end < begin ? "" : line.substr(begin, end - begin);
}

// What a file system does not let be executed can be neither loaded nor run there.
void expect_executable(const std::string& program) {
  struct statvfs about {};
  if (::statvfs(program.c_str(), &about) != 0 || (about.f_flag & ST_NOEXEC) == 0) return;
  throw Trouble(fmt::format("nothing can be executed in {} (mounted noexec); set TMPDIR to another folder",
                            fs::path(program).parent_path().string()));
}

std::vector<std::string> asked(const std::string& program) {
  expect_executable(program);
  const auto own = own_libraries();
  const auto loader = std::ranges::find_if(own, is_loader);
  if (loader == own.end()) return {};  // this program has none, so neither has what is built beside it
  std::set<std::string>
      folders;  // of ours: what a runner is linked with is beside what the grader is linked with
  for (const auto& library : own)
    if (!is_systems(library)) folders.insert(fs::path(library).parent_path());
  Command command{.argv = {*loader, "--list", program}, .readable = {own.begin(), own.end()}};
  command.readable.insert(command.readable.end(), folders.begin(), folders.end());
  command.readable.push_back(program);
  const Ran ran = run_confined(command, {.in_all = Milliseconds(5'000)});  // some 0.01 s
  if (!ran.is_well() && ran.output.find("statically linked") == ran.output.npos)
    throw Trouble(fmt::format("the loader does not know what {} needs: {}", program, ran.output));
  std::vector<std::string> libraries;
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);) {
    const auto path = path_in(line);
    const bool is_ours = folders.contains(fs::path(path).parent_path());
    if (!path.empty() && (is_systems(path) || is_ours)) libraries.push_back(path);
  }
  return libraries;
}

}  // namespace

std::vector<std::string> libraries_of(const std::string& program) {
  static std::map<std::string, std::vector<std::string>> known;
  const auto [entry, is_new] = known.try_emplace(program);
  if (is_new) entry->second = asked(program);
  return entry->second;
}

}  // namespace judge
