// The folders of distlab: the checkout with its labs, and the build tree of this program.
#pragma once

#include <filesystem>

namespace distlab {

struct Workspace {
  std::filesystem::path root;   // holds labs/, solutions/, CMakePresets.json
  std::filesystem::path build;  // holds bin/, lib/, CTestTestfile.cmake
};

// The ./distlab script names both folders (DISTLAB_ROOT, DISTLAB_BUILD). Without the script, the build tree
// is the one that contains this program, and the checkout is the nearest one above the build tree or above
// the current folder. Throws dist::Error{unsupported} that says what to do when there is no checkout (an
// installed distlab that was started elsewhere).
const Workspace& workspace();

// Returns the default folder of MNIST's files. Throws as above.
std::filesystem::path mnist_folder();
// Returns the path of this program.
std::filesystem::path this_program();

}  // namespace distlab
