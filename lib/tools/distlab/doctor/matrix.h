// Which operations each backend has on this machine, for which tensors.
#pragma once

#include <string>

namespace distlab {

// A table, and a line for each backend that cannot be used here. Starts a rank for each of the others and
// asks it, which takes a second.
std::string backend_matrix();

}  // namespace distlab
