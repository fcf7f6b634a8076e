// Dialler: connects to a host by whichever of its addresses answers ("happy eyeballs", RFC 8305). Each
// address has its own patience and its own second attempts, beside those of the others. Never blocks.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "dist/core/deadline.h"
#include "dist/store/raw_address.h"
#include "dist/store/socket.h"

namespace dist {

class Dialler {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds head_start{250};  // of an address before the next one is tried
  static constexpr std::chrono::seconds answer_patience{10};   // the same once it is connected

  // The best first. A host name stands for all its addresses, in the resolver's order.
  explicit Dialler(std::vector<SocketAddress> addresses);

  struct Connection {
    UniqueFd fd;            // tuned, non-blocking
    std::size_t place = 0;  // by which address: for reject()
  };
  // Begins what is due, and returns a connection that was made. Further ones may follow: while the caller
  // awaits an answer on a connection, the other addresses wait for answer_patience, no longer.
  // Error{resource}: no file descriptor is left.
  std::optional<Connection> poll();
  // That connection was of no use: its address is dialled again after a pause.
  void reject(std::size_t place, std::string_view problem);
  // The address with this host is the one to try, now: it has answered elsewhere.
  void prefer(std::string_view host);

  void watch(std::vector<pollfd>& entries) const;  // what poll() waits for
  int poll_ms() const;                             // until poll() has something to begin; -1: nothing
  // Until poll() may have news, one of the other entries has, or the deadline has passed.
  void wait(Deadline deadline, std::vector<pollfd> entries = {}) const;

  bool is_resolved() const { return !places_.empty(); }
  bool has_failed() const;  // every address has, at least once, and none is under way
  // As has_failed(), the last time because nobody listens there.
  bool is_refused() const;
  // Each address has said again and again that nobody listens there, or hung up; or all have failed for a
  // minute.
  bool is_hopeless() const;
  // Addresses that can't be reached, or have not answered for so long: "tcp://10.0.0.2:4711 (No route to
  // host)".
  std::vector<std::string> silent(std::chrono::milliseconds for_so_long) const;
  std::string tried() const;                  // the same of all that were dialled
  std::string problems() const;               // the same; of a single one only why
  std::string host(std::size_t place) const;  // "10.0.0.2"

 private:
  struct Place {
    RawAddress address;
    int given = -1;  // fd://
    UniqueFd fd;     // while it connects
    bool is_connected = false, was_dialled = false;
    Clock::time_point first_begun{}, begun{};
    Clock::time_point due{};  // when it may be dialled again
    std::chrono::milliseconds pause{5};
    int error = 0, refusals = 0;
    std::string problem;

    bool is_idle() const { return !fd && !is_connected; }
    std::string str() const;
  };
  void look_up();
  void begin(Place& place);
  bool has_connected(Place& place);
  void note_failure(Place& place, int error, std::string_view problem);
  Clock::time_point due(const Place& place) const;  // when it may be dialled

  std::vector<SocketAddress> addresses_;
  std::vector<Place> places_;
  Clock::time_point next_due_{};    // when an address that was never dialled may be
  Clock::time_point held_until_{};  // while a connection's answer is awaited
  Clock::time_point look_up_again_{};
  std::string unresolved_;
};

}  // namespace dist
