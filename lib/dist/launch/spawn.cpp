#include "dist/launch/spawn.h"

#include <optional>

#include "dist/core/fail.h"
#include "dist/launch/spawn_ranks.h"
#include "dist/launch/spawn_simulated.h"
#include "dist/trace/parts.h"

namespace dist {

void spawn(int n, const std::function<void(int rank)>& fn, const SpawnOptions& options) {
  if (n < 1) fail(Errc::invalid_argument, "spawn: {} ranks were asked for; at least one is needed", n);
  if (!fn) fail(Errc::invalid_argument, "spawn: there is no function to call");
  if (const auto asked = simulation_asked(process_environment)) return spawn_simulated(n, fn, *asked);
  // Joined when all ranks have ended, in whatever way, and even if nothing catches what is thrown here.
  std::optional<trace::JoinedTrace> trace(std::in_place, process_environment("DIST_TRACE").value_or(""), n);
  try {
    options.as == Ranks::processes ? spawn_processes(n, fn, options.grace) : spawn_threads(n, fn);
  } catch (...) {
    trace.reset();
    throw;
  }
}

void spawn(int n, const std::function<void(int rank)>& fn, Ranks as) { spawn(n, fn, SpawnOptions{.as = as}); }

}  // namespace dist
