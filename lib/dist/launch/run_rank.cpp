#include <exception>

#include <fmt/format.h>

#include "dist/core/rank_label.h"
#include "dist/group/rank_context.h"
#include "dist/launch/spawn_ranks.h"

namespace dist {
namespace {

RankResult describe(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const Error& e) {
    return {true, e.code(), e.what()};
  } catch (const std::exception& e) {
    return {true, Errc::internal, e.what()};
  } catch (...) {
    return {true, Errc::internal, "threw something that is no std::exception"};
  }
}

}  // namespace

RankResult run_rank(int rank, const RankFunction& fn, const std::function<void(const RankResult&)>& report) {
  set_current_rank_label(rank);
  RankResult result;
  try {
    fn(rank);
    if (is_initialized()) destroy_process_group();
  } catch (...) {
    result = describe(std::current_exception());
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
