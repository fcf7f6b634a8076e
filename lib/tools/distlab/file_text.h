// All bytes of a file, read or written.
#pragma once

#include <filesystem>
#include <string>

namespace distlab {

// Empty when it cannot be read.
std::string text_of_file(const std::filesystem::path& path);

// Error{resource} when it cannot be written.
void write_text(const std::string& text, const std::filesystem::path& path);

}  // namespace distlab
