// Libraries: the shared ones that a program needs.
#pragma once

#include <string>
#include <vector>

namespace judge {

// Lists what the system's loader finds in the sandbox for tools, itself included; it runs once per program.
// From outside the system's folders, only what is beside one that this program has loaded. Throws
// Trouble when the loader does not work.
std::vector<std::string> libraries_of(const std::string& program);

}  // namespace judge
