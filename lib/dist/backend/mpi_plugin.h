// What the plugin of the mpi backend (core/plugin.h) offers to the library: the object `dist_mpi_plugin`,
// defined in mpi/.
#pragma once

#include <memory>
#include <string>

#include "dist/backend/backend.h"

namespace dist::mpi {

struct Plugin {
  std::unique_ptr<Backend> (*make)(const BackendContext& context);
  void (*finalize)(int exit_status);                        // called last, at the end of the process
  std::string (*rank_0_address)(int rank, int world_size);  // see entries.h
};

extern "C" const Plugin dist_mpi_plugin;  // defined in the plugin only

}  // namespace dist::mpi
