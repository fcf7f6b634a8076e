// The nodes of a job: one distrun on each. They meet in a store that one of them keeps, agree on who is which
// node, and tell each other when a rank has failed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dist/store/tcp_store.h"

#include "environment.h"
#include "options.h"

namespace distrun {

class Nodes {
 public:
  // Keeps the store where that is this node's part. Error{resource}: the port is taken. Does not block.
  explicit Nodes(const Options& options);
  ~Nodes();  // the keeper of the store waits until the other nodes are gone, at most 30 s

  // Blocks until all nodes have come. Error{timeout} names how many are missing; Error{connection} when the
  // meeting place cannot be reached; Error{invalid_argument} when there are too many nodes or two of one
  // number.
  void join(const Options& options);

  const Place& place() const { return place_; }

  // `attempt` counts restarts. Thread-safe.
  void report_end(int attempt, int rank);  // of a rank here, in order
  void report_failure(int attempt, int rank,
                      const std::string& what);           // of a rank here: the first one counts
  void report_stop(int attempt, const std::string& why);  // this node was told to stop
  // What another node reported, or that it is lost. Does not block for long.
  std::optional<std::string> failure_elsewhere(int attempt);
  // Called when all ranks of this node have ended well: blocks until those of all nodes have. False: a
  // failure elsewhere came first.
  bool finish(int attempt);
  // Called before a restart: blocks until the ranks of all nodes have ended. False: a node is lost.
  bool regroup(int attempt);

 private:
  std::shared_ptr<dist::Store> reach_store(const Options& options, dist::Deadline deadline);
  void take_number(const Options& options);
  void agree_on_ranks(const Options& options);
  void agree_on_master(const Options& options);
  std::string key(const std::string& name) const;
  std::string key(int attempt, const std::string& name) const;
  void tell(int attempt, const std::string& what);
  std::optional<std::string> lost_node();
  bool all_have(int attempt, const std::string& mark);

  Place place_;
  std::string run_id_;
  double interval_s_;
  std::unique_ptr<dist::StoreServer> server_;
  std::shared_ptr<dist::Store> store_;
};

}  // namespace distrun
