// What the plugin of the mpi backend (core/plugin.h) offers to the library: the object `dist_mpi_plugin`,
// defined in mpi/.
#pragma once

#include <memory>

#include "dist/backend/backend.h"

namespace dist::mpi {

struct Plugin {
  std::unique_ptr<Backend> (*make)(const BackendContext& context);
  void (*finalize)(int exit_status);  // called last, at the end of the process
};

extern "C" const Plugin dist_mpi_plugin;  // defined in the plugin only

}  // namespace dist::mpi
