#include "distlab/file_text.h"

#include <fstream>
#include <iterator>

#include "dist/core/fail.h"

namespace distlab {

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

}  // namespace distlab
