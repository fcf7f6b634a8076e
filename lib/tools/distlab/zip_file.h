// Makes zip files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace distlab {

// Writes a zip file with these files and folders of `folder`. Throws Error{resource} when it cannot be
// written.
void write_zip(const std::filesystem::path& zip, const std::filesystem::path& folder,
               const std::vector<std::string>& names);

}  // namespace distlab
