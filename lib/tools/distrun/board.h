// Board: what the nodes of a job write into their store for each other while ranks run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/store/store.h"

namespace distrun {

inline constexpr std::string_view a_node_joins = "another node joins the job";
inline constexpr std::string_view store_is_lost = "the node that hosts the store is lost";
inline constexpr std::string_view has_left = "has left";      // the value of the key "goneNAME"
inline constexpr std::string_view has_finished = "finished";  // the value of the key "over"

// Why an attempt ended. The first node that notices an end decides for all of them, because every end has
// consequences: ranks that get SIGTERM break the collectives of the others.
enum class End { failed, joins, finished };

// A copy can be used after its Nodes is gone.
struct Board {
  std::shared_ptr<dist::Store> store;
  std::string run_id;
  int node_rank = 0, nodes = 1;
  int most = 1;                      // more than `nodes`: another one may join
  std::vector<std::string> members;  // what each node calls itself in the names of keys: a word that it keeps

  std::string key(const std::string& name) const;
  std::string key(int attempt, const std::string& name) const;
  bool has(const std::string& key) const;
  // Returns what has been decided: `mine`, unless another node was faster. Throws as the store does.
  End decide(int attempt, End mine) const;
  // Decides that the attempt failed, and why. Does not throw.
  void tell(int attempt, const std::string& what) const;
  // Says which node is lost, or has left in order if `or_left`.
  std::optional<std::string> lost_node(bool or_left = true) const;
  bool is_joined(int attempt) const;  // a node waits to take part
  // Returns what another node has reported, or that it is lost, or a_node_joins; the end of the attempt is
  // decided then. Blocks for a minute if the store does not answer.
  std::optional<std::string> failure_elsewhere(int attempt) const;
  bool all_have(int attempt, const std::string& mark) const;
};

}  // namespace distrun
