#include "dist/group/run_rank.h"

#include <exception>

#include <fmt/format.h>

#include "dist/core/forks.h"
#include "dist/core/rank_label.h"
#include "dist/group/rank_context.h"
#include "dist/group/rank_end.h"

namespace dist {

RankResult run_rank(int rank, const RankFunction& fn, const std::function<void(const RankResult&)>& report) {
  set_current_rank_label(rank);
  RankResult result;
  const SharedProcess shared(&rank_context() != &process_rank_context());
  const std::uint32_t forks = forks_before();
  const auto end_if_forked = [&] {
    if (forks_before() != forks) end_forked_child(rank, result);
  };
  try {
    fn(rank);
    end_if_forked();
    if (is_initialized()) destroy_process_group();
  } catch (...) {
    result = describe_end(std::current_exception());
    end_if_forked();
    report(result);
    leave_job(rank_context(), result.text);
  }
  return result;
}

std::string rank_message(int rank, const std::string& text) {
  const std::string label = fmt::format("rank {}", rank);
  const bool is_said = text.starts_with(label + ':') || text.starts_with(label + ' ');
  return is_said ? text : label + ": " + text;
}

LaunchInfo spawned_rank(int rank, int n) {
  LaunchInfo info;
  info.rank = info.local_rank = rank;
  info.world_size = info.local_world_size = n;
  info.launcher = "spawn";
  return info;
}

}  // namespace dist
