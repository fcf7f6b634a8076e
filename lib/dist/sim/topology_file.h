// Topologies by name (those that come with distlab, topologies/*.json) or from a JSON file of one's own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dist/sim/topology.h"

namespace dist::sim {

// "summit", or a path (with a '/' or ending in ".json"), or the JSON text itself, for those who see no files.
// Error{invalid_argument} names the file, line and key; for a name that is none it lists those there are.
Topology load_topology(const std::string& name);

// The same for a file's text; `where` is what errors call it, and `name` the topology's.
Topology parse_topology(std::string_view text, const std::string& where, const std::string& name);

struct BuiltinTopology {
  std::string_view name, text;
};
std::span<const BuiltinTopology> builtin_topologies();

}  // namespace dist::sim
