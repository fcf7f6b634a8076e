#include "distlab/file_text.h"

#include <fstream>
#include <iterator>

namespace distlab {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace distlab
