// Runs something on n ranks: threads of the test program, which is the fastest way and the one that
// sanitizers see whole; or, with the environment variable DIST_SIM (launch/spawn_simulated.h), virtual ranks.
// CTest runs programs in both ways (dist_add_simulated). Bodies wait by dist::sleep and dist::Clock, which
// serve both.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/check/finding.h"
#include "dist/group/process_group.h"
#include "dist/group/rank_context.h"
#include "dist/store/memory_store.h"

namespace dist::test {

struct RankOptions {
  InitOptions init;                   // rank, world_size and store are filled in
  std::vector<check::Code> findings;  // what the checker must say about a wrong program
  RankOptions() { init.timeout = std::chrono::seconds(20); }  // a hang is a failure soon
};

// What a test that is wrong on purpose expects from the checker.
inline RankOptions finds(std::vector<check::Code> codes) {
  RankOptions options;
  options.findings = std::move(codes);
  return options;
}

// Whether ranks are virtual in this run.
bool ranks_are_simulated();

// What an error must say, and what it says in addition on real ranks, which ask the other ranks what they are
// doing (on virtual ranks the simulator's report says that).
std::vector<std::string> told(std::vector<std::string> always, const std::vector<std::string>& of_the_others);

// Call it first, with the reason, in a test that has no meaning on virtual ranks.
#define REAL_RANKS_ONLY(reason) \
  if (::dist::test::ranks_are_simulated()) GTEST_SKIP() << "on real ranks only: " << (reason)

// Runs fn(rank, store) on n ranks, each with a RankContext, and waits for all of them. No group is made; the
// store is for init_process_group, and shared. When ranks throw, the first error in time (usually the cause;
// the others follow from it) is rethrown here. Where ranks are virtual the test fails when the checker says
// anything else than `findings`, or has notes.
void run_unjoined(int n, const std::function<void(int, const std::shared_ptr<Store>&)>& fn,
                  const std::vector<check::Code>& findings = {});

// Runs fn(rank) on n ranks between init_process_group and destroy_process_group.
void run_ranks(int n, const std::function<void(int)>& fn, const RankOptions& options = {});

}  // namespace dist::test
