#include "distlab/file_text.h"

#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distlab {
namespace fs = std::filesystem;

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& text, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text << std::flush))
    dist::fail(dist::Errc::resource, "{} cannot be written: is its folder there, and the disk not full?",
               path.string());
}

void write_output(const std::string& text, const fs::path& path) {
  path == "-" ? fmt::print("{}", text) : write_text(text, path);
}

void check_output(std::string_view option, const fs::path& file) {
  if (file.empty() || file == "-") return;
  if (!fs::exists(file) || fs::is_directory(file)) return check_output_folder(option, file);
  if (access(file.c_str(), W_OK) != 0)
    dist::fail(dist::Errc::resource, "{} {} is not yours to write; name another file", option, file.string());
}

void check_output_folder(std::string_view option, const fs::path& file) {
  using dist::Errc, dist::fail;
  const auto folder = fs::absolute(file).parent_path();
  if (!fs::is_directory(folder))
    fail(Errc::resource, "{0} {1}: there is no folder {2}; make it: mkdir -p {2}", option, file.string(),
         folder.string());
  if (access(folder.c_str(), W_OK) != 0)
    fail(Errc::resource, "{} {}: {} is not yours to write in; name another folder", option, file.string(),
         folder.string());
  if (fs::is_directory(file))
    fail(Errc::resource, "{} {} is a folder; name a file in it", option, file.string());
}

}  // namespace distlab
