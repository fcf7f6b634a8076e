// MeshStore: what the ranks of a mesh publish for each other in the store: their addresses, and the reason
// when one of them fails.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "dist/store/store.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/mesh/rank_address.h"

namespace dist::net {

// How often a waiting rank checks in the store whether another one has given up.
inline constexpr std::chrono::milliseconds check_interval{200};

class MeshStore {
 public:
  // Both must outlive this object.
  MeshStore(Store& store, const EndpointOptions& options) : store_(store), options_(options) {}
  std::string where() const { return store_.where(); }
  // Error{mismatch}: another rank was given a different world size, or has this rank's number, too.
  void publish(const RankAddress& mine);
  // Waits for the addresses of all ranks. Error{timeout} names those that did not come.
  std::vector<RankAddress> collect();

  void give_up(const std::string& reason);  // this rank
  void check_reasons();                     // Error{peer_failed}: another rank gave up
  // A rank that gives up leaves the reason here, and says goodbye to the ranks that it is linked with.
  // Another rank may only see its process end: so this quotes the reason if there is one, unless the store
  // died with a rank.
  [[noreturn]] void fail_by_reason_or(const std::string& what_was_seen);

 private:
  void await_all(const std::vector<std::string>& keys);
  std::vector<int> absent_of(const std::vector<std::string>& keys);

  Store& store_;
  const EndpointOptions& options_;
};

}  // namespace dist::net
