// The two ways of spawn(), and what they share.
#pragma once

#include <functional>
#include <string>

#include "dist/core/deadline.h"
#include "dist/core/error.h"
#include "dist/group/environment.h"

namespace dist {

using RankFunction = std::function<void(int rank)>;

void spawn_processes(int n, const RankFunction& fn, Timeout grace);
void spawn_threads(int n, const RankFunction& fn);

// How fn(rank) ended.
struct RankResult {
  bool threw = false;
  Errc code = Errc::internal;  // of a dist::Error
  std::string text;
  // It says that it follows from what another rank did.
  bool blames_others() const { return code == Errc::peer_failed || code == Errc::aborted; }
};

// Calls fn on a rank whose context is set up, and leaves the job in order if fn did not. `report` is called
// with an error before the other ranks can learn of it: so the root cause is always heard first. A process
// that fn has forked is not the rank: when it comes to fn's end, it ends with exit code 0, or 1 after writing
// its error to stderr.
RankResult run_rank(int rank, const RankFunction& fn, const std::function<void(const RankResult&)>& report);

// "rank 2: <text>", without saying "rank 2: " twice.
std::string rank_message(int rank, const std::string& text);

LaunchInfo spawned_rank(int rank, int n);

}  // namespace dist
