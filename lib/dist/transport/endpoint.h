// Endpoint: one rank's connections to all other ranks of the job, made once by init_process_group. Groups and
// operations open light Transports on it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/deadline.h"
#include "dist/core/op_kind.h"
#include "dist/store/store.h"
#include "dist/transport/members.h"
#include "dist/transport/opcode.h"
#include "dist/transport/transport.h"

namespace dist {

// Which messages belong together. A message meets a receive when context and tag are equal; only then is
// `opcode` compared, so that a broadcast's message that meets an all_reduce is a mismatch, named on both
// sides, instead of wrong data.
struct Channel {
  std::uint32_t context = 0;    // the group
  std::uint64_t tag = 0;        // collectives: the sequence number; point-to-point: the user's tag
  std::uint32_t opcode = 0;     // opcode_of(); 0: not compared
  bool point_to_point = false;  // separates user messages from collectives of the same group
  // For a collective in which all ranks must pass the same number of elements: their number plus one,
  // compared as `opcode` is, because messages with parts of it may fit where the whole does not. 0: not
  // compared.
  std::uint64_t elements = 0;
};

// Whether two values of Channel::elements contradict each other.
inline bool elements_differ(std::uint64_t a, std::uint64_t b) { return a != b && a != 0 && b != 0; }

// How error messages describe the running operation.
struct OpLabel {
  std::string name;  // "ring_all_reduce", "send"
  std::uint64_t sequence = 0;
  Amount what;
  CallSite where;
};

std::string str(const OpLabel& label);  // "ring_all_reduce #17 (16384 f32)"

enum class SendMode : std::uint8_t {
  eager,       // complete when the buffer may be reused
  rendezvous,  // complete when the receiver has posted its receive and the data is on its way into it
};

struct TransportOptions {
  Members members;
  Channel channel;
  OpLabel label;
  SendMode mode = SendMode::eager;
  Deadline deadline = Deadline::never();
  std::uint64_t bytes = 0;  // of this rank's part; for errors when no message is under way
};

// The running operation. It is queried only when a rank must wait for long, or when an error is written.
class CallLabel {
 public:
  virtual TransportOptions options() const = 0;

 protected:
  ~CallLabel() = default;
};

struct Message;
struct MessageTerms;
class SharedPeers;

// Whether ranks exchange messages by sockets only, even on one host (EndpointOptions::transport).
inline bool sends_by_sockets_alone(std::string_view transport) {
  return transport == "tcp" || transport == "plain";
}

struct EndpointOptions {
  int rank = 0;
  int world_size = 1;
  std::string token = {};  // connections without this token are refused
  std::string transport =
      "auto";  // auto: shared memory on one host, else TCP; "shm"; "tcp"; "plain" (DIST_TRANSPORT)
  Deadline deadline = Deadline::never();  // for making the connections
  std::string host = {};  // this rank's; empty: host_id(). Ranks with equal hosts may share memory
  // Whether a rank is known to have ended (a store's last will): then no rank waits for it to connect.
  // Empty: not known.
  std::function<bool(int rank)> is_gone = {};
};

// Moves messages that no thread waits for. Thread-safe.
class Mover {
 public:
  virtual ~Mover() = default;
  // Moves whatever can be moved for operations that no thread waits for now (asynchronous point-to-point);
  // returns after `patience`, or earlier when something completed or interrupt() was called.
  virtual void progress(Timeout patience) = 0;
  virtual void interrupt() = 0;  // makes a progress() or wait of this rank check again
  // Whether messages move without calls of progress().
  virtual bool moves_alone() const { return false; }
};

// Thread-safe: several operations may run at once, each on its own thread; waiting threads share the polling.
// When a rank dies (its connection closes without a goodbye), every pending and later operation of a group
// with that rank ends with Error{peer_failed} naming it. A rank that says goodbye (destroy, normal exit)
// fails only operations that still need it, and its reason is quoted.
class Endpoint : public Mover {
 public:
  ~Endpoint() override;
  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual std::unique_ptr<Transport> open(TransportOptions options) = 0;
  // One message from start to end, as open(), then isend() or irecv(), then wait() would carry it, perhaps in
  // fewer steps. Returns the other rank (a group rank).
  virtual int carry(const Message& message, const MessageTerms& terms, const CallLabel& label);
  // For work in the ranks' shared memory (shared_peers.h); nullptr where no rank of the job has any.
  virtual SharedPeers* shared_peers() { return nullptr; }
  // Every pending and later operation fails with Error{aborted} and this text. For watchdogs and for leaving
  // the job.
  virtual void abort(const std::string& reason) = 0;
  // Says goodbye to the other ranks; `reason` is empty when all is well. Nothing else may be called
  // afterwards.
  virtual void close(const std::string& reason) noexcept = 0;
  virtual std::string link_kind(int peer) const = 0;  // "self", "thread", "shm", "tcp", "plain"
  virtual bool has_cores() const { return true; }     // every rank of this host has a core of its own
};

// Called by all ranks. Publishes this rank's addresses in the store, connects the mesh and verifies the token
// and the world size. Error{timeout} names the ranks that did not come.
std::shared_ptr<Endpoint> connect_endpoint(Store& store, const EndpointOptions& options);

}  // namespace dist
