// The mpi backend as a plugin: it is loaded, with Open MPI, when it is first asked for.
#include "dist/backend/mpi_plugin.h"

#include <atomic>
#include <cstdlib>

#include "dist/backend/entries.h"
#include "dist/core/error.h"
#include "dist/core/plugin.h"

namespace dist::mpi {
namespace {

std::atomic<const Plugin*> loaded{nullptr};

const Plugin& plugin() {
  static const auto* const found = static_cast<const Plugin*>(plugin_symbol("mpi", "dist_mpi_plugin"));
  loaded = found;
  return *found;
}

void finalize(int exit_status, void*) {
  if (const Plugin* const found = loaded) found->finalize(exit_status);
}

// Exit handlers that are registered before main run after all that the program registers: by then it has left
// its job.
[[maybe_unused]] const int registered = on_exit(finalize, nullptr);

}  // namespace

bool available(std::string* why) try {
  plugin();
  if (why) why->clear();
  return true;
} catch (const Error& error) {
  if (why) *why = error.what();
  return false;
}

std::unique_ptr<Backend> make(const BackendContext& context) { return plugin().make(context); }

std::string rank_0_address(int rank, int world_size) { return plugin().rank_0_address(rank, world_size); }

}  // namespace dist::mpi
