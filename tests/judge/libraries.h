// Libraries: the shared ones that a program needs.
#pragma once

#include <string>
#include <vector>

namespace judge {

// As the system's loader finds them in the sandbox for tools, itself among them; asked once for each program.
// From outside the system's folders, only what is beside one that this program has loaded. Throws
// Trouble when the loader does not work.
std::vector<std::string> libraries_of(const std::string& program);

}  // namespace judge
