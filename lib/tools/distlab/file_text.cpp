#include "distlab/file_text.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/whole_file.h"

namespace distlab {
namespace fs = std::filesystem;

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  // Most characters of a program are ASCII, whose other byte is zero.
  constexpr std::size_t enough = 64;
  const auto first = text.substr(0, enough);
  return std::ranges::count(first, '\0') >= 2 && std::ranges::count(first, '\0') * 3 >= std::ssize(first);
}

void write_output(const std::string& text, const fs::path& path) {
  path == "-" ? fmt::print("{}", text) : dist::write_whole_file(path, text);
}

void check_output(std::string_view option, const fs::path& file) {
  if (file.empty() || file == "-") return;
  try {
    dist::check_whole_file(file);
  } catch (const dist::Error& error) {
    dist::fail(error.code(), "{} {}", option, error.what());
  }
}

void check_output_folder(std::string_view option, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error && access(folder.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
  if (error)
    dist::fail(dist::Errc::invalid_argument,
               "{} {} is not a folder that can be written ({}); name another folder", option, folder.string(),
               error.message());
}

}  // namespace distlab
