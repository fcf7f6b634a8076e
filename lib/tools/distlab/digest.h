// SHA-256 digests as sha256sum prints them: 64 hexadecimal digits.
#pragma once

#include <filesystem>
#include <string>

namespace distlab {

// Throws dist::Error{resource}.
std::string digest_of_text(const std::string& text);

// Returns the digest of a file, or of a folder with the names, kinds and bytes of everything in it. Links are
// not followed: a link counts as the path that it names. Entries that cannot be read count as unreadable.
// Throws std::filesystem::filesystem_error, and what digest_of_text() throws.
std::string digest_of_tree(const std::filesystem::path& path);

// The same for what was handed in, but it reads only files that can be a submission or contain one
// (sources and zip files, of a size that is accepted), as a folder may have anything else in it. Only the
// size of other files counts, and if there are more than `most_entries`, only the first ones count.
std::string digest_of_submission(const std::filesystem::path& path);

}  // namespace distlab
