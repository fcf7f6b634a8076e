#include "distlab/file_text.h"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/core/whole_file.h"

namespace distlab {
namespace fs = std::filesystem;

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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

}  // namespace distlab
