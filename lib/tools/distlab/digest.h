// SHA-256, as sha256sum gives it: 64 hexadecimal digits.
#pragma once

#include <filesystem>
#include <string>

namespace distlab {

// Throws dist::Error{resource}.
std::string digest_of_text(const std::string& text);

// Of a file or of a folder with all that is in it: names, kinds and bytes. Links are not followed: a link is
// the path that it names. What cannot be read counts as that. Throws std::filesystem::filesystem_error and as
// above.
std::string digest_of_tree(const std::filesystem::path& path);

}  // namespace distlab
