// Mesh: how the ranks of a job find and connect to each other.
//
// Each rank publishes its address in the store, waits for all ranks' addresses, dials all lower ranks and is
// dialled by all higher ones. Ranks of one process find each other's shared segments directly. A rank that
// fails while they connect leaves the reason in the store, so that all others end with it.
//
// A rank that is slow to accept or to answer is alive: an open connection is kept while other addresses
// are tried, and two ranks are linked once both know by which connection (handshake.h). A rank counts as dead
// when its process has ended, when the store says that it is gone, or when it hung up and does not call
// again.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dist/store/dialler.h"
#include "dist/store/store.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/engine/engine.h"
#include "dist/transport/mesh/handshake.h"
#include "dist/transport/mesh/mesh_store.h"
#include "dist/transport/mesh/rank_address.h"
#include "dist/transport/mesh/roster.h"

namespace dist::net {

class Mesh {
 public:
  Mesh(Store& store, const EndpointOptions& options);
  std::shared_ptr<Engine> connect();

 private:
  // The calls to a lower rank, until it has answered on one of the connections.
  struct Call {
    struct Talk {
      std::size_t place = 0;  // the dialler's number of the connection
      std::unique_ptr<Handshake> talk;
    };
    int peer = 0;
    Dialler dialler;
    std::vector<Talk> talks = {};
    bool was_hung_up = false;
  };
  // A connection that was accepted.
  struct Caller {
    std::unique_ptr<Handshake> talk;
    int from = -1;  // its rank, once it has proved it and was answered
  };
  using Clock = std::chrono::steady_clock;

  void listen();
  void prepare();
  void meet();
  void give_up(const std::string& reason) noexcept;

  bool is_linked(int peer) const { return linked_[static_cast<std::size_t>(peer)]; }

  void find_threads();
  void wait_for_news();
  bool is_ready(int fd) const { return std::ranges::binary_search(ready_, fd); }
  void accept_from(const UniqueFd& listener);
  void hear_callers();
  bool answer(Caller& caller, Handshake::State state);
  void conclude(const Caller& caller, Handshake::State state);
  void advance_calls();
  void hear(Call& call);
  void note_reached(const Call& call, std::size_t place);
  [[noreturn]] void fail_to_reach(const Call& call);
  bool greet(Handshake& talk, int peer, std::string_view token, bool shares);
  void link(int peer, Handshake& talk);
  void link(int peer, std::unique_ptr<Link> link);

  std::vector<int> missing() const;
  void check_health();
  void check_peers();
  void report_silence();
  std::string describe_calls() const;
  std::vector<int> died();
  bool has_pidfd(const RankAddress& peer);
  [[noreturn]] void report_death(int peer);

  const EndpointOptions options_;
  MeshStore store_;
  RankAddress mine_;
  Roster roster_;  // once all ranks have published their addresses
  std::uint64_t arena_base_ = 0;
  std::shared_ptr<SharedSegment> shared_segment_;
  std::shared_ptr<Engine> engine_;
  UniqueFd local_listener_, tcp_listener_;
  std::deque<Caller> callers_;
  std::vector<Call> calls_;
  std::vector<bool> linked_;
  std::map<int, UniqueFd> processes_;         // pidfds of ranks that are not linked yet
  std::map<int, Clock::time_point> hung_up_;  // ranks whose connection closed before it was confirmed
  int unlinked_threads_ = 0;
  std::vector<int> ready_;  // descriptors, in order, on which something has come: the others are not read
  Clock::time_point next_check_{}, next_look_{}, next_death_{}, met_since_{};
  bool told_strangers_ = false, told_unreachable_ = false, told_missing_ = false;  // each is logged once
};

}  // namespace dist::net
