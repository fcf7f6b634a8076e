#include "distlab/workspace.h"

#include <cstdlib>

#include "dist/core/fail.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

bool is_checkout(const fs::path& folder) {
  return fs::exists(folder / "CMakePresets.json") && fs::exists(folder / "labs") &&
         fs::exists(folder / "lib" / "dist" / "dist.h");
}

// Returns `from` or the nearest folder above it that is a checkout; empty when there is none.
fs::path checkout_above(fs::path from) {
  while (!is_checkout(from)) {
    if (from == from.parent_path()) return {};
    from = from.parent_path();
  }
  return from;
}

Workspace find_workspace() {
  const char* root = std::getenv("DISTLAB_ROOT");
  const char* build = std::getenv("DISTLAB_BUILD");
  if (root && build && is_checkout(root)) return {root, build};

  const fs::path own_build = this_program().parent_path().parent_path();  // <build>/bin/distlab
  fs::path found = checkout_above(own_build);
  if (!found.empty()) return {found, own_build};
  found = checkout_above(fs::current_path());
  if (!found.empty()) return {found, found / "build" / "dev"};
  dist::fail(
      dist::Errc::unsupported,
      "this command needs a checkout of distlab (labs, tests); run ./distlab there, or start {} inside "
      "one",
      this_program().string());
}

}  // namespace

fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

const Workspace& workspace() {
  static const Workspace found = find_workspace();
  return found;
}

fs::path mnist_folder() { return workspace().root / ".distlab" / "mnist"; }

}  // namespace distlab
