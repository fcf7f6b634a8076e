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
#include "dist/transport/mesh/rank_address.h"

namespace dist::net {

class Mesh {
 public:
  Mesh(Store& store, const EndpointOptions& options);
  std::shared_ptr<Engine> connect();

 private:
  // How often a waiting rank checks in the store whether another one has given up.
  static constexpr std::chrono::milliseconds check_interval{200};
  enum class LinkKind { self, thread, process, tcp };
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
  void publish();
  void collect();
  void await_all(const std::vector<std::string>& keys);
  void prepare();
  void meet();
  void give_up(const std::string& reason) noexcept;

  LinkKind way_to(const RankAddress& peer) const;
  bool is_local(const RankAddress& peer) const;  // reached through shared segments
  int local_index(int rank) const;               // its position among the ranks of this host
  std::vector<int> nodes() const;                // for each rank: the first rank of its host
  std::chrono::microseconds spin_time() const;
  std::vector<SocketAddress> addresses_of(const RankAddress& peer) const;
  bool is_linked(int peer) const { return linked_[static_cast<std::size_t>(peer)]; }
  const RankAddress& address(int rank) const { return addresses_[static_cast<std::size_t>(rank)]; }

  void find_threads();
  void wait_for_news();
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
  bool is_first_here() const;  // the lowest of this host's ranks
  std::string describe_calls() const;
  std::vector<int> died();
  bool has_pidfd(const RankAddress& peer);
  void check_reasons();
  [[noreturn]] void fail_by_reason_or(const std::string& what_was_seen);
  [[noreturn]] void report_death(int peer);
  std::vector<int> absent_of(const std::vector<std::string>& keys);

  Store& store_;
  EndpointOptions options_;
  RankAddress mine_;
  std::uint64_t arena_base_ = 0;
  std::vector<RankAddress> addresses_;
  std::shared_ptr<SharedSegment> shared_segment_;
  std::shared_ptr<Engine> engine_;
  UniqueFd local_listener_, tcp_listener_;
  std::deque<Caller> callers_;
  std::vector<Call> calls_;
  std::vector<bool> linked_;
  std::map<int, UniqueFd> processes_;         // pidfds of ranks that are not linked yet
  std::map<int, Clock::time_point> hung_up_;  // ranks whose connection closed before it was confirmed
  Clock::time_point next_check_{}, next_look_{}, met_since_{};
  bool told_strangers_ = false, told_unreachable_ = false, told_missing_ = false;  // each is logged once
};

}  // namespace dist::net
