// Nodes: one distrun on each node of a job. They meet in a store that one of them hosts, agree on the number
// of each node, and tell each other when a rank has failed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  int most = 1;  // more than `nodes`: another one may join
  // What each node calls itself in the names of keys: its number, or where nodes come and go, a word that it
  // keeps.
  std::vector<std::string> members;

  std::string key(const std::string& name) const;
  std::string key(int attempt, const std::string& name) const;
  void tell(int attempt, const std::string& what) const;
  std::optional<std::string> lost_node() const;
  bool is_joined(int attempt) const;  // a node waits to take part
  // Returns what another node has reported, or that it is lost, or a_node_joins. Blocks for a minute if the
  // store does not answer.
  std::optional<std::string> failure_elsewhere(int attempt) const;
  bool all_have(int attempt, const std::string& mark) const;
};

inline constexpr double late_after_s = 10;  // after this time distrun reports that nodes are missing

inline dist::Deadline after_s(double seconds) {
  return dist::Deadline::after(
      std::chrono::duration_cast<dist::Timeout>(std::chrono::duration<double>(seconds)));
}

inline constexpr std::string_view a_node_joins = "another node joins the job";

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
  int attempt() const { return attempt_; }    // counts all beginnings of the ranks, on all nodes
  int restarts() const { return restarts_; }  // those that --max-restarts limits
  const Board& board() const { return board_; }

  // The three do not block, but that report_stop() gives the store two seconds.
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
  // Whether all nodes start again because a node joins, and not because of a failure, if they differ in what
  // they have noticed first. `elsewhere`: what this one has.
  bool agrees_to_join(int attempt, const std::string& elsewhere);
  // Call it before a restart: it blocks until the ranks of all nodes have ended; where nodes come and go,
  // until there are enough again. Returns false, and says why, when that cannot be.
  bool regroup(const Options& options, int attempt);

 private:
  // Where nodes come and go (elastic.cpp).
  struct Round;
  void meet(const Options& options);
  void take_name(const Options& options, dist::Deadline deadline);
  std::vector<int> present(int attempt) const;
  std::optional<Round> closed(int attempt) const;
  bool may_close(const Options& options, std::size_t present, dist::Deadline& last_call) const;
  Round wait_for_round(const Options& options, int arrival, dist::Deadline deadline);
  void take_place(const Round& round);
  void wait_for_next_round();
  void wait_until_all_are_gone();

  void take_number(const Options& options);
  void wait_for_all(const Options& options, const std::vector<std::string>& sizes, dist::Deadline deadline);
  void agree_on_ranks(const Options& options);
  // `key_of`: the names of the two keys.
  void agree_on_master(const Options& options, const std::function<std::string(const std::string&)>& key_of);
  std::string key(const std::string& name) const { return board_.key(name); }

  Place place_;
  int attempt_ = 0, restarts_ = 0;
  Outlet& err_;
  Meeting meeting_;
  double interval_s_;
  Board board_;
  std::shared_ptr<dist::Store>& store_ = board_.store;
  Background background_;
  std::string name_;  // of this node, where nodes come and go
};

}  // namespace distrun
