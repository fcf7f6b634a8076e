#include "dist/core/plugin.h"

#include <array>
#include <climits>
#include <filesystem>

#include <dlfcn.h>

#include "dist/core/fail.h"

namespace dist {

namespace {

// The folder of this library, as the loader recorded it: absolute, so it holds wherever the process has gone
// since.
std::filesystem::path folder() {
  static const int anything_of_this_library = 0;
  Dl_info info{};
  void* library = nullptr;  // a link_map, which is also what dlopen() gives for it
  std::array<char, PATH_MAX> origin{};
  const bool is_known = ::dladdr1(&anything_of_this_library, &info, &library, RTLD_DL_LINKMAP) != 0 &&
                        ::dlinfo(library, RTLD_DI_ORIGIN, origin.data()) == 0;
  return is_known ? std::filesystem::path(origin.data()) : std::filesystem::path();
}

std::string why_not() {
  const char* const why = ::dlerror();
  return why ? why : "no reason is given";
}

}  // namespace

// Loaded with RTLD_GLOBAL: what a plugin is linked with may load plugins of its own that look for its
// functions, as Open MPI's do.
void* plugin_symbol(std::string_view name, const char* symbol) {
  const std::string path = folder() / fmt::format("libdist_{}.so", name);
  void* const plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!plugin)
    fail(Errc::unsupported, "{} cannot be loaded: {}; build distlab again, or install what it needs", path,
         why_not());
  void* const found = ::dlsym(plugin, symbol);
  if (!found) fail(Errc::unsupported, "{} is of another version: {}; build distlab again", path, why_not());
  return found;
}

}  // namespace dist
