// The server without its sockets: the map, and which client waits for which key until when. Single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/store/key_value_map.h"
#include "dist/store/store.h"
#include "dist/store/wire.h"

namespace dist {

class StoreService {
 public:
  using Clock = Deadline::Clock;
  using ClientId = std::uint64_t;  // one per connection, never reused
  struct Answer {
    ClientId to;
    Bytes frame;
  };
  using Answers = std::vector<Answer>;

  // A client has one request at a time. Appends its answer, and those of waiting clients whose keys it sets.
  // Throws Error{connection} for a request that makes no sense.
  void handle(ClientId from, ConstBytes request, Answers& answers);
  // Sets the key unless it exists.
  void execute_will(const std::string& key, const std::string& value, Answers& answers);
  void forget(ClientId client);  // the client is gone and waits no more
  bool is_waiting(ClientId client) const { return waiters_.contains(client); }

  void expire(Clock::time_point now, Answers& answers);      // answers those whose time is up
  Clock::time_point next_expiry() const { return expiry_; }  // not later than the first deadline

 private:
  struct Waiter {
    std::vector<std::string> keys;
    bool wants_values;  // for get() and multi_get()
    Clock::time_point until;
    std::string blocked_on;  // the first missing key
  };
  void put(std::string_view key, ConstBytes value, Answers& answers);
  void start_waiting(ClientId from, std::vector<std::string> keys, bool wants_values, std::int64_t time_left,
                     Answers& answers);
  void resume(ClientId client, Answers& answers);  // answers it, or finds the next key to wait for
  void unblock(ClientId client, const Waiter& waiter);

  KeyValueMap map_;
  std::unordered_map<ClientId, Waiter> waiters_;
  std::unordered_map<std::string, std::vector<ClientId>> blocked_;  // by the key that they wait for first
  Clock::time_point expiry_ = Clock::time_point::max();
};

}  // namespace dist
