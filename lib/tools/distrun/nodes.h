// Nodes: one distrun on each node of a job. They meet in a store that one of them hosts, agree on the number
// of each node, and tell each other when a rank has failed.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/store/store.h"

#include "background.h"
#include "board.h"
#include "environment.h"
#include "failures.h"
#include "meeting.h"
#include "members.h"
#include "options.h"
#include "output.h"

namespace distrun {

inline constexpr double late_after_s = 10;  // after this time distrun reports that nodes are missing

inline dist::Deadline after_s(double seconds) {
  return dist::Deadline::after(
      std::chrono::duration_cast<dist::Timeout>(std::chrono::duration<double>(seconds)));
}

class Nodes {
 public:
  // Takes the arguments of Meeting. Does not block.
  Nodes(const Options& options, Outlet& err);
  ~Nodes();  // the host of the store waits until the other nodes have left, at most 30 s

  // Blocks until all nodes have arrived, and reports it when that takes long. Throws Error{timeout} that says
  // how many have arrived; Error{connection} or Error{resource} when the store cannot be reached, or when
  // the node that hosts it or node 0 is lost; Error{invalid_argument} when there are too many nodes or two
  // with the same number. Returns false, and says so, when the job has succeeded without this node.
  bool join(const Options& options);

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
  // have. Returns what keeps them from that: the failure of another node, or a_node_joins.
  std::optional<std::string> finish(int attempt);
  // Call it when ranks have failed here or elsewhere: whether all nodes start again because a node joins, and
  // not because of that. Blocks for a minute if the store does not answer.
  bool agrees_to_join(int attempt);
  // Call it before a restart: it blocks until the ranks of all nodes have ended; where nodes come and go,
  // until there are enough again. Returns false, and says why, when that cannot be.
  bool regroup(const Options& options);
  // Call it when no rank of this node will run any more: the others do not wait for it. Does not block.
  void leave();

 private:
  void take_name(const Options& options);
  bool agree_on_master(const Options& options);  // false: a node is lost

  // The rounds (rounds.cpp).
  bool meet(const Options& options);
  int arrive(const Options& options);
  void end_round();
  std::optional<Member> member(int attempt, int arrival) const;
  std::vector<Member> present(int attempt) const;
  std::optional<Round> closed(int attempt) const;
  bool may_close(const Options& options, const std::vector<Member>& here, dist::Deadline& last_call) const;
  void close(const Options& options, std::vector<Member> here);
  std::optional<Round> wait_for_round(const Options& options, int arrival);
  [[noreturn]] void fail_complete(const Options& options) const;
  [[noreturn]] void say_who_is_missing(const Options& options) const;
  bool take_place(const Round& round, int arrival);
  bool wait_for_next_round(const Options& options, const Round& round);
  bool is_over() const;
  void wait_for(const std::string& key) const;  // for a moment

  std::string key(const std::string& name) const { return board_.key(name); }

  Place place_;
  int attempt_ = 0, restarts_ = 0;
  Outlet& err_;
  Meeting meeting_;
  double interval_s_;
  Board board_;
  std::shared_ptr<dist::Store>& store_ = board_.store;
  Background background_;
  std::string name_;  // of this node
  int number_ = -1;   // the node number that it must have; -1: any
};

}  // namespace distrun
