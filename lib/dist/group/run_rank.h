// One rank of a program that starts its own ranks: it runs the rank's function and reports how that ended.
#pragma once

#include <functional>
#include <string>

#include "dist/core/error.h"

namespace dist {

struct LaunchInfo;

using RankFunction = std::function<void(int rank)>;

// How fn(rank) ended.
struct RankResult {
  bool threw = false;
  Errc code = Errc::internal;  // the code of a dist::Error
  std::string text;
  // Whether the error says that it follows from another rank's failure.
  bool blames_others() const { return code == Errc::peer_failed || code == Errc::aborted; }
};

// Calls fn on a rank whose context is set up, and leaves the job in order if fn did not. Calls `report` with
// an error before the other ranks can learn of it, so that the root cause is always reported first. A process
// that fn has forked is not the rank: when it reaches fn's end, it ends with exit code 0, or with 1 after
// writing its error to stderr.
RankResult run_rank(int rank, const RankFunction& fn, const std::function<void(const RankResult&)>& report);

// "rank 2: <text>", without a second "rank 2: ".
std::string rank_message(int rank, const std::string& text);

// What such a rank knows about its launch: all n ranks are on this node.
LaunchInfo spawned_rank(int rank, int n);

}  // namespace dist
