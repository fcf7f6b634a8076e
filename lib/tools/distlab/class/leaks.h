// Leaks: parts of files that a tree must not have in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace distlab {

struct Leak {
  std::filesystem::path file;    // of the tree, relative to it
  std::filesystem::path secret;  // whose lines it has
  std::string lines;             // the first of them
};

// Files of `tree` that have three lines in a row of one of the `secrets`, which none of the `known` files
// has: lines with words in them, other than includes and comments, whatever their indentation. One leak a
// file.
std::vector<Leak> find_leaks(const std::filesystem::path& tree,
                             const std::vector<std::filesystem::path>& secrets,
                             const std::vector<std::filesystem::path>& known);

}  // namespace distlab
