// Plugins: parts of the library that lie in files of their own beside it and are loaded when they are first
// needed, because what they are linked with would cost every process that starts.
#pragma once

#include <string_view>

namespace dist {

// What is called `symbol` (extern "C") in libdist_<name>.so; the plugin stays for as long as the process.
// Error{unsupported} saying what is missing.
void* plugin_symbol(std::string_view name, const char* symbol);

}  // namespace dist
