// Slurm's node lists: "node[01-04,07],login", "rack[1-2]-n[3,5]".
#pragma once

#include <string>
#include <string_view>

namespace dist {

struct SlurmNodes {
  std::string first;     // host name of the first node
  bool several = false;  // whether there are more
};

// Error{invalid_argument} names the variable that the list came from.
SlurmNodes parse_slurm_nodes(std::string_view variable, std::string_view list);

}  // namespace dist
