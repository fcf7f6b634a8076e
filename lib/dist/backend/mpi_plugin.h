// What the plugin of the mpi backend (core/plugin.h) has for the library: the object `dist_mpi_plugin`,
// defined in mpi/.
#pragma once

#include <memory>

#include "dist/backend/backend.h"

namespace dist::mpi {

struct Plugin {
  std::unique_ptr<Backend> (*make)(const BackendContext& context);
  void (*finalize)(int exit_status);  // the last thing that the process does with MPI
};

extern "C" const Plugin dist_mpi_plugin;  // in the plugin alone

}  // namespace dist::mpi
