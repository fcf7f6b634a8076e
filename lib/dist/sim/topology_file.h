// Topologies by name (those that come with distlab, topologies/*.json) or from your own JSON file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dist/sim/topology.h"

namespace dist::sim {

// "summit", or a path (with a '/' or ending in ".json"), or the JSON text itself, for callers without files.
// Throws Error{invalid_argument}, which names the file, line and key; for an unknown name it lists the known
// ones.
Topology load_topology(const std::string& name);

// The same for a file's text. Errors call it `where`; `name` is the topology's name.
Topology parse_topology(std::string_view text, const std::string& where, const std::string& name);

struct BuiltinTopology {
  std::string_view name, text;
};
std::span<const BuiltinTopology> builtin_topologies();

}  // namespace dist::sim
