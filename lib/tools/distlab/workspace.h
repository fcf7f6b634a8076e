// Where things are: the checkout with its labs, and the build tree this program belongs to.
#pragma once

#include <filesystem>

namespace distlab {

struct Workspace {
  std::filesystem::path root;   // holds labs/, solutions/, CMakePresets.json
  std::filesystem::path build;  // holds bin/, lib/, CTestTestfile.cmake
};

// The ./distlab script names both (DISTLAB_ROOT, DISTLAB_BUILD). Without it: the build tree is where this
// program lies, the checkout is found upwards from there or from the current folder. Throws
// dist::Error{unsupported} when there is no checkout (an installed distlab run elsewhere), saying where to
// start it.
const Workspace& workspace();

// Where the files of MNIST lie unless somebody says another folder. Error as above.
std::filesystem::path mnist_folder();
// This program's own path.
std::filesystem::path this_program();

}  // namespace distlab
