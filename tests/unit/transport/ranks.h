// Ranks as threads, each with an endpoint of its own: what the transport's tests run on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <numeric>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/error.h"
#include "dist/core/tensor.h"
#include "dist/store/memory_store.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/message.h"

namespace dist::test {

using namespace std::chrono_literals;

struct World {
  int n = 2;
  std::string transport = "auto";
  std::vector<std::string> hosts = {};  // of each rank, when not all are alike
  std::string str() const {
    std::string text = transport + std::to_string(n);
    for (const auto& host : hosts) text += host;
    return text;
  }
};

inline void PrintTo(const World& world, std::ostream* out) { *out << world.str(); }

// What one operation of a test is.
struct OpOptions {
  std::uint64_t tag = 0;
  std::uint32_t context = 1, opcode = 0;
  SendMode mode = SendMode::eager;
  Timeout timeout = 20s;
  std::string name = "exchange";
  Amount what = {};
  bool point_to_point = false;
  std::vector<int> members = {};  // all
};

class Rank {
 public:
  Rank(int rank, int n, std::shared_ptr<Endpoint> end) : rank_(rank), size_(n), endpoint_(std::move(end)) {}
  int rank() const { return rank_; }
  int size() const { return size_; }
  Endpoint& endpoint() { return *endpoint_; }
  void die() { endpoint_.reset(); }  // without a goodbye
  bool is_alive() const { return endpoint_ != nullptr; }

  std::unique_ptr<Transport> open(const OpOptions& op = {}) {
    TransportOptions options = options_of(op);
    options.deadline = Deadline::after(op.timeout);
    return endpoint_->open(std::move(options));
  }

  int carry_send(const TensorView& data, int dst, const OpOptions& op = {}) {
    return carry({true, data, dst}, op);
  }
  int carry_recv(const TensorView& data, int src, const OpOptions& op = {}) {
    return carry({false, data, src}, op);
  }

 private:
  int carry(const dist::Message& message, const OpOptions& op) {
    struct Label final : CallLabel {
      explicit Label(TransportOptions of) : of_(std::move(of)) {}
      TransportOptions options() const override { return of_; }
      TransportOptions of_;
    };
    const TransportOptions options = options_of(op);
    return endpoint_->carry(message, {options.members, options.channel, options.mode, op.timeout},
                            Label(options));
  }
  TransportOptions options_of(const OpOptions& op) const {
    TransportOptions options;
    options.members = op.members.empty() ? Members::everybody(size_) : Members(op.members);
    options.channel = {op.context, op.tag, op.opcode, op.point_to_point};
    options.label = {op.name, op.tag, op.what, {}};
    options.mode = op.mode;
    return options;
  }

  int rank_, size_;
  std::shared_ptr<Endpoint> endpoint_;
};

// The first error in time is rethrown here.
inline void run_world(const World& world, const std::function<void(Rank&)>& body) {
  auto store = make_memory_store();
  std::mutex mutex;
  std::exception_ptr first;
  std::latch connected(world.n);  // no rank leaves while others still connect
  const auto connect = [&](const EndpointOptions& options) {
    struct Arrival {
      std::latch& latch;
      ~Arrival() { latch.count_down(); }
    } arrival{connected};
    return connect_endpoint(*store, options);
  };
  std::vector<std::thread> threads;
  for (int r = 0; r < world.n; ++r) {
    threads.emplace_back([&, r] {
      try {
        EndpointOptions options{
            .rank = r, .world_size = world.n, .token = "secret", .transport = world.transport};
        options.deadline = Deadline::after(20s);
        if (!world.hosts.empty()) options.host = world.hosts[static_cast<std::size_t>(r)];
        auto endpoint = connect(options);
        connected.wait();
        Rank rank(r, world.n, std::move(endpoint));
        body(rank);
        if (rank.is_alive()) rank.endpoint().close("");
      } catch (const std::exception& error) {
        std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

// A message that a receiver can check: what it should hold depends on its source, its destination and its
// number.
enum class Memory { arena, foreign };

class Message {
 public:
  Message(std::size_t bytes, Memory memory) : bytes_(bytes) {
    const auto count = static_cast<std::int64_t>(bytes);
    if (memory == Memory::arena) {
      tensor_ = empty({count}, DType::u8);
    } else {
      foreign_.resize(bytes + 1);
      tensor_ = Tensor::from_blob(foreign_.data(), {count}, DType::u8);
    }
  }
  Message& write(int from, int to, int number = 0) {
    const auto pattern = pattern_of(from, to, number);
    for (std::size_t i = 0; i < bytes_; i += pattern.size())
      std::memcpy(data() + i, pattern.data(), std::min(pattern.size(), bytes_ - i));
    return *this;
  }
  Message& clear() {
    if (bytes_ > 0) std::memset(data(), 0xee, bytes_);
    return *this;
  }
  void check(int from, int to, int number = 0) {
    const auto pattern = pattern_of(from, to, number);
    for (std::size_t i = 0; i < bytes_; i += pattern.size()) {
      if (std::memcmp(data() + i, pattern.data(), std::min(pattern.size(), bytes_ - i)) == 0) continue;
      FAIL() << "a wrong byte after " << i << " of " << bytes_ << " from rank " << from << " to " << to
             << ", number " << number;
    }
  }
  TensorView view() { return tensor_.flat(); }
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(tensor_.flat().data); }

 private:
  // Its period is prime, so that pieces that were swapped or lost show.
  static std::vector<std::uint8_t> pattern_of(int from, int to, int number) {
    std::vector<std::uint8_t> pattern(1009);
    for (std::size_t i = 0; i < pattern.size(); ++i)
      pattern[i] =
          static_cast<std::uint8_t>(static_cast<std::size_t>(from * 31 + to * 17 + number * 7) + i % 251);
    return pattern;
  }

  std::size_t bytes_;
  std::vector<std::uint8_t> foreign_;
  Tensor tensor_;
};

// The error that `act` throws; a failure when it throws none.
template <class Act>
Error error_of(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(Errc::internal, "none");
}

inline void expect_error(const Error& error, Errc code, const std::vector<std::string>& parts) {
  EXPECT_EQ(name(error.code()), name(code)) << error.what();
  for (const std::string& part : parts)
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "'" << part << "' in: " << error.what();
}

}  // namespace dist::test
