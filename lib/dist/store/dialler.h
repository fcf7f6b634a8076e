// Dialler: connects to a host by whichever of its addresses answers ("happy eyeballs", RFC 8305). Each
// address has its own patience and its own retries, in parallel with the others. Never blocks.
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
  static constexpr std::chrono::milliseconds head_start{250};  // before the next address is tried
  static constexpr std::chrono::seconds answer_patience{10};   // the same, once an address is connected

  // The best address comes first. A host name stands for all its addresses, in the resolver's order.
  explicit Dialler(std::vector<SocketAddress> addresses);

  struct Connection {
    UniqueFd fd;            // tuned, non-blocking
    std::size_t place = 0;  // the address that was connected: for reject()
  };
  // Begins what is due, and returns a connection that was made. Others may follow: while the caller waits for
  // an answer on a connection, the other addresses wait for answer_patience, no longer. Throws
  // Error{resource} when no file descriptor is left.
  std::optional<Connection> poll();
  // That connection was unusable: its address is dialled again after a pause.
  void reject(std::size_t place, std::string_view problem);
  // Makes the address with this host due now: that host has answered elsewhere.
  void prefer(std::string_view host);

  void watch(std::vector<pollfd>& entries) const;  // adds what poll() waits for
  int poll_ms() const;                             // until poll() has something to begin; -1: nothing
  // Waits until poll() may have news, one of the other entries is ready, or the deadline has passed.
  void wait(Deadline deadline, std::vector<pollfd> entries = {}) const;

  bool is_resolved() const { return !places_.empty(); }
  bool has_failed() const;  // every address has, at least once, and none is in progress
  // Like has_failed(), and the last failures say that nothing listens there.
  bool is_refused() const;
  // Each address has reported many times that nothing listens there, or has hung up; or all have failed for a
  // minute.
  bool is_hopeless() const;
  // Addresses that cannot be reached, or have not answered for this long: "tcp://10.0.0.2:4711 (No route to
  // host)".
  std::vector<std::string> silent(std::chrono::milliseconds for_so_long) const;
  std::string tried() const;                  // the same for all that were dialled
  std::string problems() const;               // the same; for a single address only the reason
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
  Clock::time_point held_until_{};  // while the caller waits for an answer
  Clock::time_point look_up_again_{};
  std::string unresolved_;
};

}  // namespace dist
