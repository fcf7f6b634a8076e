#include "dist/simulate/remote/rank.h"

#include <utility>

#include "dist/group/rank_context.h"
#include "dist/group/run_rank.h"
#include "dist/simulate/remote/caller.h"
#include "dist/simulate/remote/remote_tasking.h"
#include "dist/simulate/remote/remote_world.h"

namespace dist::sim {

bool run_as_rank(UniqueFd socket, const std::function<void(int rank)>& fn) {
  const TaskChannel channel(std::move(socket));
  const Greeting greeting = greet();
  RemoteTasking tasking(greeting.checks);
  const TaskScope scope(tasking);
  RankContext& context = process_rank_context();
  context.launch = spawned_rank(greeting.rank, greeting.ranks);
  context.virtual_world = std::make_shared<RemoteWorld>(greeting, tasking);
  const RankResult result = run_rank(greeting.rank, fn, [](const RankResult& failed) {
    Question(Verb::failed).with(failed.code).with(failed.text).ask();
  });
  context.virtual_world.reset();
  Question(Verb::bye).ask();
  return !result.threw;
}

}  // namespace dist::sim
