#include "dist/core/plugin.h"

#include <filesystem>

#include <dlfcn.h>

#include "dist/core/fail.h"

namespace dist {

namespace {

// Where this library lies.
std::filesystem::path folder() {
  static const int anything_of_this_library = 0;
  Dl_info info{};
  const bool is_known = ::dladdr(&anything_of_this_library, &info) != 0 && info.dli_fname != nullptr;
  return is_known ? std::filesystem::absolute(info.dli_fname).parent_path() : std::filesystem::path();
}

// Asked as the library is loaded: its name may begin where the process is now.
const std::filesystem::path own_folder = folder();

std::string why_not() {
  const char* const why = ::dlerror();
  return why ? why : "no reason is given";
}

}  // namespace

// Global: what a plugin is linked with may load plugins of its own that look for its functions, as Open MPI's
// do.
void* plugin_symbol(std::string_view name, const char* symbol) {
  const std::string path = own_folder / fmt::format("libdist_{}.so", name);
  void* const plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!plugin)
    fail(Errc::unsupported, "{} cannot be loaded: {}; build distlab again, or install what it needs", path,
         why_not());
  void* const found = ::dlsym(plugin, symbol);
  if (!found) fail(Errc::unsupported, "{} is of another version: {}; build distlab again", path, why_not());
  return found;
}

}  // namespace dist
