// What rendezvous() is to do: options, rank context and environment brought together and checked before
// anything moves. Then the store that it names: opening it (on rank 0 this may mean keeping it), and what the
// ranks of one joining write there. Every rank claims its number and states its world size; a rank that sees
// a contradiction, sees its time run out, knows of a rank that cannot come any more, or completes the number
// of ranks, proposes a verdict. The first verdict stands.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/core/error.h"
#include "dist/group/join/environment.h"
#include "dist/group/process_group.h"
#include "dist/group/rank_context.h"
#include "dist/store/store.h"
#include "dist/store/tcp_store.h"

namespace dist {

struct Job;

struct RendezvousPlan {
  LaunchInfo launch;             // rank and world size; where the store is, if at an address
  std::shared_ptr<Store> store;  // given by the caller or by spawn
  std::string path;              // the file of a file store
  Timeout timeout = default_timeout;

  // Whether rank 0 makes the store's server, to which the others connect.
  bool kept_by_rank_0() const {
    return !store && path.empty() && !launch.store_is_external && !launch.store_address.empty();
  }
};

// Error{invalid_argument} for contradictions; otherwise throws the same errors as read_environment().
RendezvousPlan plan_rendezvous(const InitOptions& options, const RankContext& context, const GetEnv& get_env,
                               CallSite where);

struct OpenedStore {
  std::unique_ptr<StoreServer> server;  // when this rank keeps the store
  std::shared_ptr<Store> store;
  int generation =
      0;  // which joining this is, counted by each rank, and by rank 0 for all when it keeps the store
};

// Blocks until the store can be used. `generation`: how often this rank has tried to join before.
OpenedStore open_store(const RendezvousPlan& plan, int generation, Deadline deadline);

// Where the ranks of one joining meet: keys of another restart or generation are not seen there.
std::shared_ptr<Store> meeting_place(std::shared_ptr<Store> store, int restart_count, int generation);

std::string join_key(int rank);  // at the meeting place: this rank has arrived
// This rank has left, or its process has ended. The key is at the meeting place when a launcher keeps the
// store, outside it when rank 0 does, because that store serves one joining only.
std::string gone_key(int rank);

inline constexpr const char* verdict_key = "verdict";
inline constexpr const char* world_size_key = "world_size";
inline constexpr const char* joined_key = "joined";  // counts the ranks that have done both

// "ok <token> <host of rank 0> <host of rank 1> ...", or the number of an Errc and what happened.
struct Verdict {
  std::string text;

  static Verdict good(const std::string& token, const std::vector<int>& hosts);
  static Verdict bad(Errc code, const std::string& why);

  // Returns the verdict that holds at this meeting place afterwards.
  Verdict propose(Store& place) const;
  void read_into(Job& job) const;  // throws a bad verdict
};

}  // namespace dist
