// Leaks: parts of files that a tree must not contain.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace distlab {

struct Leak {
  std::filesystem::path file;    // of the tree, relative to it
  std::filesystem::path secret;  // the file whose lines it contains
  std::string lines;             // the first of them
};

// Returns the files of `tree` that contain three consecutive lines of one of the `secrets` that none of the
// `known` files contains; one leak per file. Only lines with words count, without includes, namespaces and
// comments; indentation does not matter.
std::vector<Leak> find_leaks(const std::filesystem::path& tree,
                             const std::vector<std::filesystem::path>& secrets,
                             const std::vector<std::filesystem::path>& known);

}  // namespace distlab
