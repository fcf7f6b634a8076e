// Nodes: one distrun on each node of a job. They meet in a store that one of them hosts, agree on the number
// of each node, and tell each other when a rank has failed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/store/store.h"

#include "background.h"
#include "environment.h"
#include "failures.h"
#include "meeting.h"
#include "options.h"
#include "output.h"

namespace distrun {

// What the nodes of a job write into the store for each other. A copy can be used after its Nodes is gone.
struct Board {
  std::shared_ptr<dist::Store> store;
  std::string run_id;
  int node_rank = 0, nodes = 1;

  std::string key(const std::string& name) const;
  std::string key(int attempt, const std::string& name) const;
  void tell(int attempt, const std::string& what) const;
  std::optional<std::string> lost_node() const;
  // Returns what another node has reported, or that it is lost. Blocks for a minute if the store does not
  // answer.
  std::optional<std::string> failure_elsewhere(int attempt) const;
  bool all_have(int attempt, const std::string& mark) const;
};

class Nodes {
 public:
  // Takes the arguments of Meeting. Does not block.
  Nodes(const Options& options, Outlet& err);
  ~Nodes();  // the host of the store waits until the other nodes are gone, at most 30 s

  // Blocks until all nodes have arrived, and reports it when that takes long. Throws Error{timeout} that says
  // how many have arrived; Error{connection} or Error{resource} when the store cannot be reached;
  // Error{invalid_argument} when there are too many nodes or two with the same number.
  void join(const Options& options);

  const Place& place() const { return place_; }
  const Board& board() const { return board_; }

  // `attempt` counts restarts. The three do not block, but that report_stop() gives the store two seconds.
  void report_end(int attempt, int rank);  // a rank of this node has ended without an error
  // A rank of this node has failed. failure_elsewhere() returns the first failure of all nodes.
  void report_failure(int attempt, const dist::RankFailure& failure);
  void report_stop(int attempt, const std::string& why);  // this node was told to stop
  // Returns the failures of all nodes' ranks that have been reported; none when this is the only node or the
  // store is gone. Blocks for at most four seconds.
  std::vector<NodeFailure> failures(int attempt);
  // "node 1 is lost: its distrun has ended", or empty. Blocks for at most two seconds.
  std::string lost_node();
  // Call it when all ranks of this node have ended without an error: it blocks until the ranks of all nodes
  // have. Returns false when another node failed first.
  bool finish(int attempt);
  // Call it before a restart: it blocks until the ranks of all nodes have ended. Returns false when a node is
  // lost.
  bool regroup(int attempt);

 private:
  void take_number(const Options& options);
  void wait_for_all(const Options& options, const std::vector<std::string>& sizes, dist::Deadline deadline);
  void agree_on_ranks(const Options& options);
  void agree_on_master(const Options& options);
  std::string key(const std::string& name) const { return board_.key(name); }

  Place place_;
  Outlet& err_;
  Meeting meeting_;
  double interval_s_;
  Board board_;
  std::shared_ptr<dist::Store>& store_ = board_.store;
  Background background_;
};

}  // namespace distrun
