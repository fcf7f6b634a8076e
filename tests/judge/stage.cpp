#include "judge/stage.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "judge/sandbox.h"
#include "judge/trouble.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t most_copied = 16 << 20;

bool lets_execute(const fs::path& folder) {
  struct statvfs about {};
  return ::statvfs(folder.c_str(), &about) == 0 && (about.f_flag & ST_NOEXEC) == 0;
}

// Where the program is it can be executed, or else it is of no use.
fs::path place_for(const std::string& program) {
  const fs::path usual = fs::temp_directory_path();
  return lets_execute(usual) ? usual : fs::path(program).parent_path();
}

void make_empty(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file).close();
}

void open_to_all(const fs::path& folder) {
  constexpr auto readable = fs::perms(0755);
  fs::permissions(folder, readable);
  for (const auto& each : fs::recursive_directory_iterator(folder)) fs::permissions(each, readable);
}

}  // namespace

Stage::Stage(const std::vector<std::string>& files, bool has_tmp) : folder_(place_for(files.back())) {
  const fs::path root = folder_.path();
  try {
    for (const char* place : {"dev/null", "dev/urandom"}) make_empty(root / place);
    fs::copy_file(JUDGE_DOOR, root / "door");
    for (const auto& file : files) {
      const auto place = root / fs::path(file).relative_path();
      const bool is_hidden = has_tmp && file.starts_with("/tmp/"),
                 is_large = fs::file_size(file) > most_copied;
      if (!is_hidden) make_empty(place);
      if (is_hidden || is_large)
        to_be_bound_.push_back(file);
      else
        fs::copy_file(file, place, fs::copy_options::overwrite_existing);
    }
    if (has_tmp) fs::create_directory(root / "tmp");
    open_to_all(root);
  } catch (const std::system_error& error) {
    throw Trouble(
        fmt::format("cannot copy what a graded process needs to {}: {}", root.string(), error.what()));
  }
}

}  // namespace judge
