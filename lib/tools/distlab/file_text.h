// All bytes of a file, read or written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace distlab {

// Empty when it cannot be read.
std::string text_of_file(const std::filesystem::path& path);

// Error{resource} when it cannot be written.
void write_text(const std::string& text, const std::filesystem::path& path);

// The same of a file that may be "-", standard output.
void write_output(const std::string& text, const std::filesystem::path& path);

// For long work that ends with the file that `option` names: Error{resource} when it could not be written
// then. Empty is none, "-" standard output.
void check_output(std::string_view option, const std::filesystem::path& file);
// The same for a file that is made anew in its folder.
void check_output_folder(std::string_view option, const std::filesystem::path& file);

}  // namespace distlab
