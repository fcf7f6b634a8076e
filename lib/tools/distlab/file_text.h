// All bytes of a file.
#pragma once

#include <filesystem>
#include <string>

namespace distlab {

// Empty when it cannot be read.
std::string text_of_file(const std::filesystem::path& path);

}  // namespace distlab
