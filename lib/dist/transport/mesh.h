// Mesh: how the ranks of a job find and connect to each other.
//
// Each rank publishes a card in the store, waits for everybody's, dials all lower ranks and is dialled by all
// higher ones. Ranks of one process find each other's mailrooms directly. A rank that fails meanwhile leaves
// the reason in the store, so that all others end with it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dist/store/store.h"
#include "dist/transport/card.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/engine.h"
#include "dist/transport/greeting.h"

namespace dist::net {

class Mesh {
 public:
  Mesh(Store& store, const EndpointOptions& options);
  std::shared_ptr<Engine> connect();

 private:
  // How often a rank that waits asks the store whether another has given up.
  static constexpr std::chrono::milliseconds check_interval{200};
  enum class Way { self, thread, process, tcp };
  // A connection that was dialled, and where else to try.
  struct Dialled {
    int peer = 0;
    std::deque<std::string> others;
    std::unique_ptr<Conversation> talk;
  };
  using Clock = std::chrono::steady_clock;

  void listen();
  void publish();
  void collect();
  void await_all(const std::vector<std::string>& keys);
  void prepare();
  void meet();
  void give_up(const std::string& reason) noexcept;

  Way way_to(const Card& peer) const;
  bool is_local(const Card& peer) const;  // reached through mailrooms
  int local_index(int rank) const;        // among the ranks of this host
  std::vector<int> nodes() const;         // of all ranks: the first rank of the same host
  std::chrono::microseconds spin_time() const;
  std::deque<std::string> addresses_of(const Card& peer) const;
  bool is_linked(int peer) const { return linked_[static_cast<std::size_t>(peer)]; }

  void dial(Dialled& call);
  void find_threads();
  void wait_for_news();
  void accept_from(const UniqueFd& listener);
  void hear_callers();
  void hear_dialled();
  bool greet(Conversation& talk, int peer, std::string_view token);
  void take_leave_of_dialled(const std::string& reason);
  void link(int peer, Conversation& talk);
  void link(int peer, std::unique_ptr<Link> link);

  std::vector<int> missing() const;
  void check_health();
  void check_peers();
  std::vector<int> died();
  bool has_died(const Card& peer);
  void check_reasons();
  [[noreturn]] void fail_by_reason_or(const std::string& what_was_seen);
  [[noreturn]] void report_death(int peer);
  std::vector<int> absent_of(const std::vector<std::string>& keys);

  Store& store_;
  EndpointOptions options_;
  Card mine_;
  std::uint64_t arena_base_ = 0;
  std::vector<Card> cards_;
  std::shared_ptr<Mailroom> mailroom_;
  std::shared_ptr<Engine> engine_;
  UniqueFd local_listener_, tcp_listener_;
  std::deque<std::unique_ptr<Conversation>> callers_;  // who dialled us and has not proved who it is
  std::deque<Dialled> dialled_;
  std::vector<bool> linked_;
  std::map<int, UniqueFd> processes_;  // pidfds of ranks that are not linked yet
  Clock::time_point next_check_{}, next_look_{};
};

}  // namespace dist::net
