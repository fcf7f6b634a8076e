#include "distlab/digest.h"

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/handles.h"

#include "distlab/process.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// The status has no type when the folder can be listed but not entered.
fs::file_status status_of(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored);
}

// The lengths come first, so that no name can look like two.
std::string described(const fs::path& path, const std::string& name) {
  const auto status = status_of(path);
  const auto target = fs::is_symlink(status) ? fs::read_symlink(path).string() : "";
  return fmt::format("{} {} {} {}{}\n", static_cast<int>(status.type()), name.size(), target.size(), name,
                     target);
}

// Returns one line per file, without its name.
std::string digests_of(const std::vector<std::string>& files) {
  constexpr std::size_t at_once = 200;
  std::string text;
  for (std::size_t begin = 0; begin < files.size(); begin += at_once) {
    std::vector<std::string> argv{"sha256sum", "--zero", "--"};
    const auto first = files.begin() + static_cast<std::ptrdiff_t>(begin);
    argv.insert(argv.end(), first,
                first + static_cast<std::ptrdiff_t>(std::min(at_once, files.size() - begin)));
    std::istringstream lines(run_captured(argv).output);
    for (std::string line; std::getline(lines, line, '\0');) text += line.substr(0, line.find(' ')) + '\n';
  }
  return text;
}

}  // namespace

std::string digest_of_text(const std::string& text) {
  const dist::UniqueFd memory(
      ::memfd_create("text", MFD_CLOEXEC));  // memory, because a file could be left behind
  for (std::size_t written = 0; written < text.size();) {
    const auto count = ::write(memory.get(), text.data() + written, text.size() - written);
    if (count <= 0) dist::fail_errno(dist::Errc::resource, errno, "cannot get memory for a digest");
    written += static_cast<std::size_t>(count);
  }
  const auto said =
      run_captured({"sha256sum", fmt::format("/proc/{}/fd/{}", ::getpid(), memory.get())}).output;
  return said.substr(0, said.find(' '));
}

std::string digest_of_tree(const fs::path& path) {
  std::vector<fs::path> all{path};
  if (fs::is_directory(fs::symlink_status(path))) {
    for (const auto& entry :
         fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied))
      all.push_back(entry.path());
  }
  std::ranges::sort(all);
  std::string text;
  std::vector<std::string> files;
  for (const auto& each : all) {
    text += described(each, each.lexically_relative(path).string());
    if (fs::is_regular_file(status_of(each))) files.push_back(fs::absolute(each));
  }
  return digest_of_text(text + digests_of(files));
}

}  // namespace distlab
