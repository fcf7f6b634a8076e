// spawn() on virtual ranks: a program that was written for processes runs in the simulator, unchanged. Asked
// for by the environment variable DIST_SIM.
#pragma once

#include <optional>
#include <string>

#include "dist/group/environment.h"
#include "dist/launch/explore.h"
#include "dist/launch/simulate.h"
#include "dist/launch/spawn_ranks.h"

namespace dist {

// What DIST_SIM says, parts in any order and separated by commas:
//   ranks=1024                   instead of the n that spawn() is given
//   topology=summit              or the path of a JSON file (sim/topology_file.h); otherwise laptop
//   straggler=3x2.5              what-ifs (sim/what_if.h), each as often as wanted
//   slow-link=0-1x10
//   lose=2@100us
//   seed=17                      another schedule (RunOptions::seed)
//   explore=200                  up to so many schedules, until one goes wrong (launch/explore.h);
//   explore=all:
//                                every one, up to 100,000
//   links=yes                    the report names the busiest links
//   report=FILE                  the report is appended to that file, too
struct SimulationAsked {
  int ranks = 0;  // 0: spawn() says
  sim::RunOptions options;
  std::optional<sim::ExploreOptions> explore;
  std::string report_file;
};

// Nothing when DIST_SIM is not set or empty. Error{invalid_argument} names DIST_SIM, the part and what it may
// be.
std::optional<SimulationAsked> simulation_asked(const GetEnv& get_env);

// Runs fn on virtual ranks, writes the report to stderr and throws as spawn() does when a rank failed or
// there is a finding. fn works on the caller's variables: all ranks share them.
void spawn_simulated(int n, const RankFunction& fn, const SimulationAsked& asked);

// "busiest links: 0 -> 1 (14 messages, 3.5 MiB), ..."; empty when there are none.
std::string busiest_links(std::vector<sim::LinkTraffic> links);

}  // namespace dist
