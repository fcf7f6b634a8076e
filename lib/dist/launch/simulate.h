// sim::run: the very same program on virtual ranks, on a virtual clock. As spawn(), in one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dist/check/finding.h"
#include "dist/core/deadline.h"
#include "dist/sim/network.h"
#include "dist/sim/topology.h"
#include "dist/sim/what_if.h"
#include "dist/trace/event.h"

namespace dist::sim {

inline constexpr int most_ranks = 1 << 18;  // of one run: each takes some 25 KB
// Error{invalid_argument} for a number of ranks that no simulation takes, or that this machine does not have.
void check_ranks(int ranks, const Topology& topology);

// What sim::run() is told.
struct RunOptions {
  int ranks = 2;                    // virtual ranks, 1 to most_ranks
  std::string topology = "laptop";  // a name or a file, see sim/topology_file.h
  bool check = true;                // look for findings (check/finding.h)
  // Of the schedule: empty for the ordinary one (sends wait for their receivers, first come first served),
  // "17" for one at random, "=0.2.1" for one that explore() found. Virtual times say little in the last two.
  std::string seed = {};
  std::size_t stack_bytes = 0;  // of a rank; 0: 64 KiB
  bool links = false;           // Report::links of more than 64 ranks, too
  WhatIf what_if = {};          // a slow rank, a slow link, a lost rank
  // A rank that does not give way for so long (an endless loop) ends the process, with a line that names it.
  // Zero: never.
  Timeout patience = std::chrono::seconds(60);
  // Look for such ranks, for those that sleep really or make threads, and (with `check`) for global variables
  // that they change.
  bool watch = true;
  // Write down every message, wait and reduction. DIST_TRACE=file does so too, into a file (chrome_json.h).
  bool trace = false;
};

// How one rank ended when not well.
struct RankFailed {
  int rank;          // global rank
  std::string what;  // its error's sentence
};

// What happened in a simulated run.
struct Report {
  double virtual_time_s = 0;              // until the last rank ended
  double wall_s = 0;                      // seconds that it really took
  std::uint64_t messages = 0;             // sent by all ranks
  std::uint64_t switches = 0;             // from one rank to another
  std::vector<RankTraffic> traffic;       // [rank]
  std::vector<LinkTraffic> links;         // pairs that exchanged something, by src and dst; see RunOptions
  std::vector<std::uint64_t> card_bytes;  // [network card]: out of its node
  std::vector<std::uint64_t> peak_buffer_bytes;  // [rank]: tensors and scratch
  std::vector<check::Finding> findings;          // what is wrong with the program
  std::vector<RankFailed> failures;  // first the one that caused the others; before it those that were lost
  trace::Trace trace;                // when that was asked for
  // What a simulated rank should not do: "rank 3 slept really ...", "rank 3 changes the global variable ...".
  std::vector<std::string> notes;

  bool ok() const { return findings.empty() && failures.empty(); }  // no finding and no failure
  // Of the rank that sent most.
  std::uint64_t max_bytes_sent() const;
  // Of the rank that held most, in bytes.
  std::uint64_t max_peak_buffer_bytes() const;
  // Findings, failures and notes, as a person reads them; empty when all is well.
  std::string text() const;
};

// Calls fn(rank) on `options.ranks` virtual ranks. init_process_group() inside finds its job by itself,
// whatever backend it names (a tensor that this backend would not take is a finding). Deterministic: the same
// options give the same report, `wall_s` apart. Errors of the ranks are in the report;
// Error{invalid_argument|resource} is thrown for options that cannot be served. Ranks share this process:
// global variables are shared (thread_local ones too), other threads have no rank, and what sleeps really
// stops all (use dist::sleep). The report's notes tell of all three.
Report run(const RunOptions& options, const std::function<void(int rank)>& fn);

// The running rank computes for so long, virtually. Outside of a simulation it does nothing.
// Error{invalid_argument} for seconds that are not from 0 to 1e6, and where the clock would pass 2e6 s.
void compute(double seconds);

}  // namespace dist::sim
