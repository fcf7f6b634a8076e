// Joining the world of virtual ranks.
#include "dist/core/fail.h"
#include "dist/group/job_state.h"
#include "dist/group/join/virtual_world.h"

namespace dist {

void refuse_simulation(CallSite where) {
  if (const auto asked = process_environment("DIST_SIM"); asked && !asked->empty())
    fail(
        Errc::invalid_argument,
        "init_process_group at {}: DIST_SIM simulates the ranks that dist::spawn() starts, but this "
        "program's main joins a job itself; move what each rank does into a function rank_main(int rank) and "
        "call dist::spawn(n, rank_main)",
        where.str());
}

void JobState::join_virtually(const InitOptions& options) {
  VirtualWorld& world = *context.virtual_world;
  job = world.join(context.launch->rank);
  const auto refuse = [&](std::string_view what, int asked, int is) {
    fail(Errc::mismatch,
         "rank {}: init_process_group at {}: {} = {} was given, but this is {} of a simulation", job.rank,
         joined_at.str(), what, asked, is);
  };
  if (options.rank >= 0 && options.rank != job.rank) refuse("rank", options.rank, job.rank);
  if (options.world_size >= 0 && options.world_size != job.world_size)
    refuse("world_size", options.world_size, job.world_size);
  job.timeout = options.timeout.value_or(read_timeout(process_environment));
  settings.recorder_size = world.recorder_size();
  simulation = world.observer(job.rank);
}

}  // namespace dist
