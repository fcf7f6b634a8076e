// The TCP store's client: every call is one request on a connection of its own, taken from the idle ones or
// newly opened. A call that waits is blocked at the server; a virtual rank polls instead, because all ranks
// share its thread.
#include "dist/store/tcp_store.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/tasking.h"
#include "dist/store/client_connection.h"
#include "dist/store/key_value_map.h"
#include "dist/store/wire.h"

namespace dist {
namespace {

using namespace std::chrono_literals;
using wire::Command, wire::Reader, wire::Status, wire::Writer;

constexpr Timeout reply_patience = 60s;  // for any call: the server's process may be stopped for a while
constexpr Timeout reply_slack = 10s;     // after the deadline at which the server answers a blocked call

std::int64_t time_left(Deadline deadline) { return deadline.is_never() ? -1 : deadline.left().count(); }

class TcpStore final : public Store {
 public:
  TcpStore(ClientConnection::Server server, const LastWill& will, Deadline deadline)
      : server_(std::move(server)) {
    idle_.push_back(ClientConnection::open(server_, will, deadline));
    server_.is_up = true;
  }
  ~TcpStore() override {
    if (getpid() != owner_) return;
    for (auto& connection : idle_) connection.shut_down();
  }
  using Store::append;
  using Store::set;

  void set(std::string_view key, ConstBytes value) override {
    call(Writer(Command::set).put(key).put(value).finish(), patience());
  }

  Bytes get(std::string_view key, Deadline deadline) override {
    return next_value(result(call_waiting(
        [&](std::int64_t ms) { return Writer(Command::get).put(key).put(ms).finish(); }, deadline)));
  }

  std::vector<Bytes> multi_get(std::span<const std::string> keys, Deadline deadline) override {
    const Bytes reply = call_waiting(
        [&](std::int64_t ms) { return Writer(Command::multi_get).put(keys).put(ms).finish(); }, deadline);
    Reader in = result(reply);
    std::vector<Bytes> values;
    while (values.size() < keys.size()) values.push_back(next_value(in));
    return values;
  }

  std::int64_t add(std::string_view key, std::int64_t delta) override {
    const Bytes reply = call(Writer(Command::add).put(key).put(delta).finish(), patience());
    return result(reply).get<std::int64_t>();
  }

  Bytes compare_set(std::string_view key, ConstBytes expected, ConstBytes desired) override {
    return next_value(
        result(call(Writer(Command::compare_set).put(key).put(expected).put(desired).finish(), patience())));
  }

  void append(std::string_view key, ConstBytes value) override {
    call(Writer(Command::append).put(key).put(value).finish(), patience());
  }

  void wait(std::span<const std::string> keys, Deadline deadline) override {
    call_waiting([&](std::int64_t ms) { return Writer(Command::wait).put(keys).put(ms).finish(); }, deadline);
  }

  bool check(std::span<const std::string> keys) override {
    const Bytes reply = call(Writer(Command::check).put(keys).finish(), patience());
    return result(reply).get<std::uint8_t>() != 0;
  }

  bool remove(std::string_view key) override {
    const Bytes reply = call(Writer(Command::remove).put(key).finish(), patience());
    return result(reply).get<std::uint8_t>() != 0;
  }

  std::int64_t num_keys() override {
    const Bytes reply = call(Writer(Command::num_keys).finish(), patience());
    return result(reply).get<std::int64_t>();
  }

  std::string where() const override { return server_.address.str(); }

 private:
  static Deadline patience() { return Deadline::after(reply_patience); }
  static Status status(const Bytes& reply) { return static_cast<Status>(Reader(reply).get<std::uint8_t>()); }
  static Reader result(const Bytes& reply) { return Reader(ConstBytes(reply).subspan(1)); }
  static Bytes next_value(auto&& in) {
    const ConstBytes value = in.bytes();
    return {value.begin(), value.end()};
  }

  // Each call has a connection to itself: an idle one if there is one, otherwise a new one.
  ClientConnection acquire(Deadline deadline) {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        ClientConnection connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return ClientConnection::open(server_, {}, deadline);
  }

  Bytes call(const Bytes& request, Deadline deadline) {
    if (getpid() != owner_) {
      fail(Errc::invalid_argument,
           "store {}: this handle belongs to process {}, of which {} is a fork; the child "
           "must make its own",
           where(), owner_, getpid());
    }
    if (request.size() - wire::prefix_bytes > wire::max_frame) {
      fail(Errc::invalid_argument, "store {}: a request of {} bytes; keys and value together may have {}",
           where(), request.size() - wire::prefix_bytes, wire::max_frame);
    }
    ClientConnection connection = acquire(deadline);
    Bytes reply = connection.ask(request, deadline);
    {
      std::lock_guard lock(mutex_);
      idle_.push_back(std::move(connection));
    }
    if (status(reply) == Status::invalid) {
      fail(Errc::invalid_argument, "{} (at {})", result(reply).text(), where());
    }
    return reply;
  }

  // For requests that the server answers once the keys exist, or after the time that they name.
  template <class Request>
  Bytes call_waiting(Request request_for, Deadline deadline) {
    const auto since = Deadline::Clock::now();
    if (Tasking::current()) return ask_again_and_again(request_for(0), deadline, since);
    const Bytes request = request_for(time_left(deadline));
    const Deadline reply_by = deadline.is_never()
                                  ? deadline
                                  : Deadline::after(std::max(deadline.left() + reply_slack, reply_patience));
    Bytes reply = call(request, reply_by);
    if (status(reply) == Status::timeout) fail_missing(result(reply).texts(), since, where());
    return reply;
  }

  // Virtual ranks share the thread that would wait for the server, so they poll.
  Bytes ask_again_and_again(const Bytes& request, Deadline deadline, Deadline::Clock::time_point since) {
    constexpr Timeout longest_pause = std::chrono::milliseconds(100);
    for (Timeout pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, longest_pause)) {
      Bytes reply = call(request, patience());
      if (status(reply) != Status::timeout) return reply;
      if (deadline.passed()) fail_missing(result(reply).texts(), since, where());
      sleep(std::min(pause, deadline.left()));
    }
  }

  const pid_t owner_ = getpid();
  ClientConnection::Server server_;
  std::mutex mutex_;
  std::vector<ClientConnection> idle_;
};

}  // namespace

std::shared_ptr<Store> make_tcp_store(const std::string& address, const std::string& token, Deadline deadline,
                                      const LastWill& will) {
  return std::make_shared<TcpStore>(ClientConnection::Server{parse_address(address), token}, will, deadline);
}

}  // namespace dist
