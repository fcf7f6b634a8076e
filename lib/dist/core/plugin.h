// Plugins: parts of the library that are in files of their own beside it and are loaded when they are first
// needed, because what they are linked with would slow down the start of every process.
#pragma once

#include <string_view>

namespace dist {

// The address of `symbol` (extern "C") in libdist_<name>.so; the plugin stays loaded until the process ends.
// Throws Error{unsupported}, which says what is missing.
void* plugin_symbol(std::string_view name, const char* symbol);

}  // namespace dist
