// Messages: how a send meets its receive. A message waits for its receive, or the receive for its message, in
// the order of their channel; a large one is then written in pieces.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "dist/transport/departures.h"
#include "dist/transport/plain/peer.h"

namespace dist::net::plain {

struct Message : TransferFacts {
  enum class Stage : std::uint8_t { posted, offered, streaming, done };
  std::uint64_t id = 0, theirs = 0;  // `theirs`: the other side's number of the message
  Stage stage = Stage::done;
  Failure failure;
};

// Notified when a message has ended.
struct Activity {
  std::uint64_t count = 0;
  std::condition_variable changed;
  void note() {
    ++count;
    changed.notify_all();
  }
};

// Used under the rank's lock. Peers are global ranks.
class Messages {
 public:
  Messages(Peers& peers, Departures& departures, Activity& activity)
      : peers_(peers), departures_(departures), activity_(activity) {}
  void open(Op& op);
  void close(Op& op) noexcept { ops_.erase(&op); }
  void abort(const std::string& reason);  // every operation fails from now on

  std::uint64_t send(Op& op, const TensorView& data, int to);
  std::uint64_t receive(Op& op, const TensorView& data, int from);  // or any_rank
  Message& at(std::uint64_t id) { return messages_.at(id); }
  // Ends a message, whatever its stage: afterwards no buffer of the caller is touched, and the other side is
  // notified.
  void end(Message& message) noexcept;
  void log_unreceived() const;  // the messages of collectives that were never received

  void on_frame(int source, const Header& header, Payload payload);
  void on_failed(int rank, const std::string& how);
  void stream(Peer& to);  // writes the next pieces of what this peer has accepted, as its buffer allows

 private:
  using Key = std::tuple<std::uint32_t, bool, std::uint64_t>;  // context, point-to-point, tag
  static Key key_of(const auto& it) {
    return {it.context, it.point_to_point, it.tag};
  }  // a Header, a Channel
  struct Unexpected {
    int source = 0;
    Header header;
    std::vector<std::byte> payload;
    bool withdrawn = false;
  };
  Message& begin(Op& op, bool is_send, const TensorView& data, int peer);
  void match(Message& receive, int source, const Header& header, Payload payload, bool withdrawn);
  void settle(Message& message, Failure failure = {});
  Message* find(std::uint64_t id, bool is_send);
  Failure earlier_mismatch(const Op& op) const;
  void fail(Op& op, const Failure& failure);
  void on_message(int source, const Header& header, Payload payload);
  void on_refused(int source, const Header& header);
  void on_withdrawn(int source, const Header& header);
  void on_left(int rank);

  Peers& peers_;
  Departures& departures_;
  Activity& activity_;
  std::map<std::uint64_t, Message> messages_;  // under way, by id
  std::multimap<Key, Message*> posted_;        // receives without a message, in order
  std::multimap<Key, Unexpected> unexpected_;  // messages without a receive, in order
  std::set<Op*> ops_;
  bool gave_up_ = false;  // some transfer: parts of it may be left over
  std::uint64_t last_id_ = 0;
};

}  // namespace dist::net::plain
