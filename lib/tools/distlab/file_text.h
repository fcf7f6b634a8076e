// All bytes of a file, read; and files that an option names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace distlab {

// Empty when it cannot be read.
std::string text_of_file(const std::filesystem::path& path);

// As dist::write_whole_file(), to a file that may be "-", standard output.
void write_output(const std::string& text, const std::filesystem::path& path);

// For long work that ends with the file that `option` names: the error that writing it then would throw, with
// the option's name before it. Empty is none, "-" standard output.
void check_output(std::string_view option, const std::filesystem::path& file);

}  // namespace distlab
