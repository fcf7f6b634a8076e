// spawn() on virtual ranks: a program that was written for processes runs in the simulator, unchanged, if the
// environment variable DIST_SIM is set.
#pragma once

#include <optional>
#include <string>

#include "dist/group/join/environment.h"
#include "dist/group/run_rank.h"
#include "dist/simulate/explore.h"
#include "dist/simulate/simulate.h"

namespace dist {

// The value of DIST_SIM, with parts in any order, separated by commas:
//   ranks=1024                   instead of the n that spawn() is given
//   topology=summit              or the path of a JSON file (sim/topology_file.h); default: laptop
//   straggler=3x2.5              what-ifs (sim/what_if.h), each any number of times
//   slow-link=0-1x10
//   lose=2@100us
//   seed=17                      another schedule (RunOptions::seed)
//   explore=200                  up to this many schedules, until one goes wrong (launch/explore.h)
//   explore=all                  every schedule, up to 100,000
//   links=yes                    the report names the busiest links
//   report=FILE                  the report is also appended to that file
struct SimulationAsked {
  int ranks = 0;  // 0: the n of spawn()
  sim::RunOptions options;
  std::optional<sim::ExploreOptions> explore;
  std::string report_file;
};

// Empty if DIST_SIM is not set or empty. Throws Error{invalid_argument}, which names DIST_SIM, the part and
// what it may be.
std::optional<SimulationAsked> simulation_asked(const GetEnv& get_env);

// Runs fn on virtual ranks, writes the report to stderr and throws as spawn() does if a rank failed or there
// is a finding. fn works on the caller's variables, which all ranks share.
void spawn_simulated(int n, const RankFunction& fn, const SimulationAsked& asked);

// "busiest links: 0 -> 1 (14 messages, 3.5 MiB), ..."; empty if there are none.
std::string busiest_links(std::vector<sim::LinkTraffic> links);

}  // namespace dist
