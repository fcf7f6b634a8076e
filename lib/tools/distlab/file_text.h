// Reading whole files, and writing files that an option names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace distlab {

// Returns true for a text in UTF-16, with or without a byte order mark.
bool is_utf16(std::string_view text);

// Returns all bytes of the file, or an empty text when it cannot be read.
std::string text_of_file(const std::filesystem::path& path);

// Like dist::write_whole_file(), but "-" is standard output.
void write_output(const std::string& text, const std::filesystem::path& path);

// Call it before long work that ends with writing the file that `option` names: throws the error that writing
// would throw, with the option's name in front. The name may be empty (no file) or "-" (standard output).
void check_output(std::string_view option, const std::filesystem::path& file);

// The same for a folder that will get files: makes it. Throws Error{invalid_argument} if it cannot be
// written.
void check_output_folder(std::string_view option, const std::filesystem::path& folder);

}  // namespace distlab
