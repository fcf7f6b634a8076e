#include "dist/group/run_rank.h"

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/forks.h"
#include "dist/core/rank_label.h"
#include "dist/group/rank_context.h"

namespace dist {
namespace {

RankResult describe(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const Error& e) {
    return {true, e.code(), e.what()};
  } catch (const std::bad_alloc&) {
    return {true, Errc::resource,
            "the machine, or a limit (ulimit -v), has no memory left for it (std::bad_alloc); ask for less"};
  } catch (const std::exception& e) {
    const std::string text = e.what();
    return {true, Errc::internal, text.empty() ? "threw a std::exception without a text" : text};
  } catch (...) {
    return {true, Errc::internal, "threw something that is not a std::exception"};
  }
}

// For a process that fn has forked and that reaches fn's end: it is not the rank, so nothing is reported, and
// everything that must be left or freed belongs to the rank.
[[noreturn]] void end_forked_child(int rank, const RankResult& result) {
  if (result.threw) {
    const std::string text = fmt::format("process {}, forked by rank {}: {}\n", getpid(), rank, result.text);
    std::fputs(text.c_str(), stderr);
  }
  std::cout.flush();
  std::fflush(nullptr);
  _exit(result.threw ? 1 : 0);
}

}  // namespace

RankResult run_rank(int rank, const RankFunction& fn, const std::function<void(const RankResult&)>& report) {
  set_current_rank_label(rank);
  RankResult result;
  const std::uint32_t forks = forks_before();
  const auto end_if_forked = [&] {
    if (forks_before() != forks) end_forked_child(rank, result);
  };
  try {
    fn(rank);
    end_if_forked();
    if (is_initialized()) destroy_process_group();
  } catch (...) {
    result = describe(std::current_exception());
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
