// The files that belong to this checkout, for commands that pack a copy of it.
#pragma once

#include <filesystem>
#include <vector>

namespace distlab {

// Returns the files that git tracks and that exist, relative to the checkout's root. If git does not know the
// checkout, returns all files but those that builds and students make. Links count as files.
std::vector<std::filesystem::path> checkout_files();

// Copies one of them to its place below `to`; links stay links.
void copy_checkout_file(const std::filesystem::path& file, const std::filesystem::path& to);

}  // namespace distlab
