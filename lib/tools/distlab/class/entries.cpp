#include "distlab/class/entries.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "distlab/digest.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

bool is_no_submission(const std::string& name) { return name.starts_with('.') || name == "__MACOSX"; }

std::string student_of(const fs::path& path) {
  auto extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return (extension == ".zip" || extension == ".cpp" ? path.stem() : path.filename()).string();
}

// Links are refused, because they could lead to any file that the instructor may read.
std::string refusal_of(const fs::path& path) {
  const auto status = fs::symlink_status(path);
  if (fs::is_symlink(status)) return "is a link; hand in the file itself";
  return fs::is_directory(status) || fs::is_regular_file(status) ? "" : "is neither a file nor a folder";
}

}  // namespace

Entries find_entries(const fs::path& folder) {
  Entries entries;
  std::map<std::string, int> claims;  // how many stems and whole file names are this name
  for (const auto& each : fs::directory_iterator(folder)) {
    const auto& path = each.path();
    if (is_no_submission(path.filename().string())) {
      ++entries.left_out;
      continue;
    }
    entries.all.push_back({student_of(path), fs::absolute(path), refusal_of(path)});
    for (const std::string& name : std::set{entries.all.back().name, path.filename().string()})
      ++claims[name];
  }
  for (auto& entry : entries.all) {
    if (claims[entry.name] > 1) entry.name = entry.path.filename().string();
  }
  std::ranges::sort(entries.all, {}, [](const Entry& entry) { return std::pair(entry.name, entry.path); });
  return entries;
}

std::string file_name_for(const std::string& student, const std::string& extension) {
  constexpr std::size_t longest = 200, told_apart = 16;
  if (student.size() <= longest) return student + extension;
  return student.substr(0, longest - told_apart) + digest_of_text(student).substr(0, told_apart) + extension;
}

}  // namespace distlab
