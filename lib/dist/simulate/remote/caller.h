// Caller: how the tasks of this process send requests to the simulation that they belong to.
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dist/simulate/remote/channel.h"
#include "dist/simulate/remote/protocol.h"

namespace dist::sim {

// An answer, with a reader over it.
struct Reply {
  template <std::integral T>
  T get() {
    return reader.get<T>();
  }
  explicit Reply(Bytes of) : message(std::make_unique<Bytes>(std::move(of))), reader(*message) {}
  std::unique_ptr<Bytes> message;
  wire::Reader reader;
};

// A verb and the arguments after it.
class Question {
 public:
  explicit Question(Verb verb) : message_(verb) {}
  template <class T>
  Question& with(const T& value) {
    if constexpr (std::integral<T>)
      message_.put(value);
    else if constexpr (std::is_enum_v<T>)
      put_enum(message_, value);
    else if constexpr (std::is_convertible_v<const T&, std::string_view>)
      message_.put(std::string_view(value));
    else
      put(message_, value);
    return *this;
  }
  // Asks on the running task's channel. Throws the simulation's error, Error{connection} if the simulation
  // has ended, and Error{unsupported} on a thread that is not a task of a virtual rank.
  Reply ask(ConstBytes bytes = {}, int passed = -1);

 private:
  wire::Writer message_;
};

// The channel on which this thread asks, while it lives.
class TaskChannel {
 public:
  explicit TaskChannel(UniqueFd socket);
  ~TaskChannel();
  TaskChannel(const TaskChannel&) = delete;
  TaskChannel& operator=(const TaskChannel&) = delete;
  static Channel& current();

 private:
  Channel channel_;
};

}  // namespace dist::sim
