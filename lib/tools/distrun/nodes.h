// The nodes of a job: one distrun on each. They meet in a store that one of them keeps, agree on who is which
// node, and tell each other when a rank has failed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/store/store.h"

#include "environment.h"
#include "failures.h"
#include "meeting.h"
#include "options.h"
#include "output.h"

namespace distrun {

class Nodes {
 public:
  // As Meeting. Does not block.
  Nodes(const Options& options, Outlet& err);
  ~Nodes();  // the keeper of the store waits until the other nodes are gone, at most 30 s

  // Blocks until all nodes have come; says so when that takes long. Error{timeout} names how many are
  // missing; Error{connection} or Error{resource} when the meeting place cannot be reached;
  // Error{invalid_argument} when there are too many nodes or two of one number.
  void join(const Options& options);

  const Place& place() const { return place_; }

  // `attempt` counts restarts. Thread-safe.
  void report_end(int attempt, int rank);  // of a rank here, in order
  // Of a rank here. The first one of all nodes is what failure_elsewhere() says.
  void report_failure(int attempt, const dist::RankFailure& failure);
  void report_stop(int attempt, const std::string& why);  // this node was told to stop
  // What another node reported, or that it is lost. Does not block for long.
  std::optional<std::string> failure_elsewhere(int attempt);
  // The failures of all nodes' ranks, as far as they were reported; none when this is the only node, or the
  // store is gone. Blocks at most two seconds.
  std::vector<NodeFailure> failures(int attempt);
  // Called when all ranks of this node have ended well: blocks until those of all nodes have. False: a
  // failure elsewhere came first.
  bool finish(int attempt);
  // Called before a restart: blocks until the ranks of all nodes have ended. False: a node is lost.
  bool regroup(int attempt);

 private:
  void take_number(const Options& options);
  void wait_for_all(const Options& options, const std::vector<std::string>& sizes, dist::Deadline deadline);
  void agree_on_ranks(const Options& options);
  void agree_on_master(const Options& options);
  std::string key(const std::string& name) const;
  std::string key(int attempt, const std::string& name) const;
  void tell(int attempt, const std::string& what);
  std::optional<std::string> lost_node();
  bool all_have(int attempt, const std::string& mark);

  Place place_;
  Outlet& err_;
  Meeting meeting_;
  std::string run_id_;
  double interval_s_;
  std::shared_ptr<dist::Store> store_;
};

}  // namespace distrun
