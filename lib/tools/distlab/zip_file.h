// Zip files that are made here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace distlab {

// With these files and folders of `folder`. Error{resource} when it cannot be written.
void write_zip(const std::filesystem::path& zip, const std::filesystem::path& folder,
               const std::vector<std::string>& names);

}  // namespace distlab
