// Transport: moves bytes between two ranks of one group, for one operation. Algorithms are written on it, and
// run unchanged over shared memory, TCP, device memory and the simulator.
#pragma once

#include <cstdint>
#include <memory>

#include "dist/core/view.h"

namespace dist {

inline constexpr int any_rank = -1;

class Transport;

// A transfer under way. Call wait() exactly once, before touching its buffer again; a request that is
// destroyed without wait() (because an error is being thrown) is cancelled.
class Request {
 public:
  Request() = default;
  Request(Transport* transport, std::uint64_t id) : transfer_(transport, Cancel{id}) {}

  // Blocks (on a GPU: makes the current stream wait) until the buffer may be used: a send's may be
  // overwritten, a receive's holds the message. Returns the source rank of a receive, the destination of a
  // send. Throws Error{timeout|peer_failed|mismatch}, naming the operation, the peer and how much had
  // arrived.
  int wait();
  bool is_completed();  // never blocks; wait() must still be called
  // Whether its message is sent whole at once, without waiting for an answer from the other rank.
  bool is_short() const;

 private:
  struct Cancel {
    std::uint64_t id;
    void operator()(Transport* transport) const noexcept;
  };
  std::unique_ptr<Transport, Cancel> transfer_;
};

// Scratch memory on the device of the tensor that it was made for; freed with this object (on a GPU: after
// the work enqueued so far).
class Scratch {
 public:
  Scratch() = default;
  Scratch(Transport* transport, TensorView view) : memory_(transport, Free{view}) {}

  // The first like.count elements, as a place into which to receive `like`. like.count must not exceed the
  // capacity.
  TensorView of(const TensorView& like) const;
  TensorView all() const { return memory_.get_deleter().view; }

 private:
  struct Free {
    TensorView view;
    void operator()(Transport* transport) const noexcept;
  };
  std::unique_ptr<Transport, Free> memory_;
};

// Ranks are group ranks, 0 to size()-1. Messages between two ranks arrive in the order they were sent. A
// message's size must equal its receive's (Error{mismatch} names both). Zero-element messages are sent and
// received too. A rank may send to itself. Not thread-safe: one operation is run by one thread.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Which ranks share a node: equal numbers for those that do. All ranks see the same. By default all share
  // one.
  virtual int node_of(int rank) const {
    (void)rank;
    return 0;
  }

  virtual Request isend(TensorView data, int dst) = 0;
  virtual Request irecv(TensorView data, int src) = 0;  // src may be any_rank where the operation allows it

  // Room for `count` elements with the dtype and device of `like`.
  virtual Scratch scratch(const TensorView& like, std::int64_t count) = 0;
  Scratch scratch(const TensorView& like) { return scratch(like, like.count); }

 protected:
  friend class Request;
  friend class Scratch;
  virtual int wait(std::uint64_t id) = 0;
  virtual bool test(std::uint64_t id) = 0;
  virtual bool is_short(std::uint64_t id) const {
    (void)id;
    return false;
  }
  virtual void cancel(std::uint64_t id) noexcept = 0;
  virtual void free_scratch(TensorView view) noexcept = 0;
};

// A send and a receive at the same time, the step of most algorithms; returns when both are complete.
void send_recv(Transport& net, TensorView out, int dst, TensorView in, int src);

}  // namespace dist
