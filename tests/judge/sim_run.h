// SimRun: the ranks of one run as isolated processes whose network, clock and checker are the grader's. What
// they send is counted here, when they send it is virtual, and what they do wrong is found as in any
// simulation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/simulate/simulate.h"

#include "judge/child.h"
#include "judge/frame.h"
#include "judge/hidden.h"
#include "judge/outcome.h"

namespace judge {

// What the graded code has called of the library to tell other ranks something, besides messages.
struct BuiltIn {
  int rank;
  std::string name;  // "all_reduce", "new_group"
  std::string where;
};

// What the simulation has done for a rank, by the name of the call. A trace says what the process has
// reported of it.
struct Done {
  int calls = 0;
  std::uint64_t bytes = 0;  // of collectives: of this rank's part
};

struct SimRun {
  std::vector<Outcome> ranks;  // replies are what attempt() gives
  dist::sim::Report report;
  std::vector<BuiltIn> built_ins;
  std::vector<std::map<std::string, Done>> done;  // [rank]: collectives, and what makes groups
  std::string about;                              // the plan's

  // Answers of all ranks when all is well: no rank failed, nothing was found, and neither a collective nor
  // what makes groups was called besides `allowed` ("barrier", "new_group"), nor more than the trace knows.
  // Otherwise the test fails with
  // what explains it best, and the answer is empty.
  std::vector<Json> answers(const std::vector<std::string_view>& allowed = {}) const;
};

// Called for each message that a rank sends, when it hands over its bytes, by the virtual clock; in another
// thread than the one that calls simulate(), and no more once that has returned.
using Watch = std::function<void(int rank, std::chrono::nanoseconds at, std::span<const std::byte> bytes)>;

struct SimPlan {
  std::vector<Json> tasks = {};     // one per rank
  std::string topology = "laptop";  // or "rounds": virtual time counts them, a microsecond each
  bool eager = false;               // sends return at once; otherwise they wait for their receivers
  std::string schedule = {};        // RunOptions::seed; empty: the ordinary one
  bool trace = false;               // report.trace has every call and message
  Limits limits = {};
  Watch sent = {};
  Hidden hidden = {};        // data that the ranks ask for, piece by piece
  std::string program = {};  // empty: runner()
  std::string about = {};  // what the run is, said before each complaint: "exchange on 4 ranks, eager sends"
};
// With `--traces FOLDER` it also leaves the run's trace there, as Suite.test.json: of a test with several
// runs the one that failed it, or the last one.
SimRun simulate(const SimPlan& plan);

// Runs code of the grader itself on virtual ranks of this process, as a measure for answers. Throws
// Trouble when one of the ranks fails, because that is not a wrong answer.
dist::sim::Report simulate_own(const dist::sim::RunOptions& options, const std::function<void(int rank)>& fn);

// Whether this rank has computed for this long, in virtual time; otherwise the test fails. The process itself
// reports its computing time, and may report none: then it would be faster than is possible. Needs
// SimPlan::trace.
bool has_computed(const SimRun& run, int rank, double seconds);

// Rounds of a run on topology "rounds".
int rounds(const dist::sim::Report& report);

}  // namespace judge
