// sim::run: the same program on virtual ranks, with a virtual clock. Like spawn(), but in one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dist/check/finding.h"
#include "dist/core/deadline.h"
#include "dist/sim/topology.h"
#include "dist/sim/traffic.h"
#include "dist/sim/what_if.h"
#include "dist/trace/event.h"

namespace dist::sim {

inline constexpr int most_ranks = 1 << 18;  // per run: each takes about 25 KB
// Throws Error{invalid_argument} for a number of ranks that no simulation supports, or that the topology does
// not have.
void check_ranks(int ranks, const Topology& topology);

// The options of sim::run().
struct RunOptions {
  int ranks = 2;                    // virtual ranks, 1 to most_ranks
  std::string topology = "laptop";  // a name or a file, see sim/topology_file.h
  bool check = true;                // look for findings (check/finding.h)
  // The schedule: empty for the ordinary one (sends wait for their receivers, first come first served), "17"
  // for a random one, "=0.2.1" for one that explore() found. Virtual times mean little in the last two.
  std::string seed = {};
  std::size_t stack_bytes = 0;  // stack per rank; 0: 64 KiB
  bool links = false;           // fill Report::links for more than 64 ranks, too
  WhatIf what_if = {};          // a slow rank, a slow link, a lost rank
  // A rank that does not give way for this long (an endless loop) ends the process, with a line that names
  // it. Zero: never.
  Timeout patience = std::chrono::seconds(60);
  // Watch for such ranks, for those that really sleep or start threads, and (with `check`) for global
  // variables that they change.
  bool watch = true;
  // Whether floating point numbers are computed and sent. Without them, their tensors are memory that nothing
  // touches, so that models fit that are larger than this machine; layers, optimizers and collectives take
  // the times and the memory that they would take with them, and integers are what they would be. A program
  // must not depend on a value: each loss is an arbitrary number.
  bool values = true;
  // Record every message, wait and reduction. DIST_TRACE=file does so, too, and writes a file
  // (chrome_json.h).
  bool trace = false;
};

// How one rank ended that failed.
struct RankFailed {
  int rank;          // global rank
  std::string what;  // its error's sentence
};

// What happened in a simulated run.
struct Report {
  double virtual_time_s = 0;              // until the last rank ended
  double wall_s = 0;                      // real seconds
  std::uint64_t messages = 0;             // sent by all ranks
  std::uint64_t switches = 0;             // from one rank to another
  std::vector<RankTraffic> traffic;       // [rank]
  std::vector<LinkTraffic> links;         // pairs that exchanged something, by src and dst; see RunOptions
  std::vector<std::uint64_t> card_bytes;  // [network card]: bytes that left its node
  std::vector<std::uint64_t> peak_buffer_bytes;  // [rank]: tensors and scratch
  std::vector<check::Finding> findings;          // what is wrong with the program
  std::vector<RankFailed> failures;              // lost ranks, then the cause of the others, then those
  trace::Trace trace;                            // if it was asked for
  // What a simulated rank should not do: "rank 3 really slept ...", "rank 3 changes the global variable ...".
  std::vector<std::string> notes;

  bool ok() const { return findings.empty() && failures.empty(); }  // no finding and no failure
  // The bytes sent by the rank that sent most.
  std::uint64_t max_bytes_sent() const;
  // The bytes held at once by the rank that held most.
  std::uint64_t max_peak_buffer_bytes() const;
  // Findings, failures and notes as text; empty when all is well.
  std::string text() const;
};

// Calls fn(rank) on `options.ranks` virtual ranks. init_process_group() inside finds its job by itself,
// whatever backend it names (a tensor that this backend would not take is a finding). Deterministic: the same
// options give the same report, except for `wall_s`. Errors of the ranks are in the report; throws
// Error{invalid_argument|resource} for options that cannot be served. The ranks share this process: they
// share global variables (thread_local ones, too), other threads are not part of any rank, and a real sleep
// stops them all (use dist::sleep). The report notes all three.
Report run(const RunOptions& options, const std::function<void(int rank)>& fn);

// From now on Report::peak_buffer_bytes of the running rank counts. Does nothing outside a simulation.
void restart_peak();

// The running rank computes for `seconds`, virtually. Does nothing outside a simulation. Throws
// Error{invalid_argument} for seconds that are not from 0 to 1e6, and if the clock would pass 2e6 s.
void compute(double seconds);

}  // namespace dist::sim
