// Endpoint: one rank's connections to all other ranks of the job, made once at init. Groups and operations
// open light Transports on it.
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

// Which messages belong together. Two ranks' messages meet when context and tag are equal; `opcode` is
// compared then, so that a broadcast's message met by an all_reduce is a mismatch, named on both sides, not
// wrong data.
struct Channel {
  std::uint32_t context = 0;    // the group
  std::uint64_t tag = 0;        // collectives: the sequence number; point-to-point: the user's tag
  std::uint32_t opcode = 0;     // opcode_of(), 0: not compared
  bool point_to_point = false;  // separates user messages from collectives of the same group
  // Of a collective of which all ranks must pass equally many elements: their number plus one, compared as
  // `opcode` is: messages of parts of it may fit where the whole does not. 0: not compared.
  std::uint64_t elements = 0;
};

// Of two numbers as Channel::elements.
inline bool elements_differ(std::uint64_t a, std::uint64_t b) { return a != b && a != 0 && b != 0; }

// What error messages say of the operation that is running.
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
  std::uint64_t bytes = 0;  // of this rank's part; what errors say where no message is under way
};

// What runs, asked for only when a rank must wait for long, or an error is to be written.
class CallLabel {
 public:
  virtual TransportOptions options() const = 0;

 protected:
  ~CallLabel() = default;
};

// What one rank sends or receives.
struct Message {
  bool is_send = false;
  TensorView data;
  int peer = 0;  // group rank; of a receive also any_rank
};

// The same of a rank that waits until it has ended: as the options that its label makes.
struct MessageTerms {
  const Members& members;
  Channel channel;
  SendMode mode = SendMode::eager;
  Timeout timeout = no_timeout;
};

Request start(Transport& transport, const Message& message);
TransportOptions options_for(const MessageTerms& terms, const CallLabel& label);  // from now on

class PeerMemory;

// Whether ranks of one host, too, exchange messages by sockets alone (EndpointOptions::transport).
inline bool sends_by_sockets_alone(std::string_view transport) {
  return transport == "tcp" || transport == "plain";
}

struct EndpointOptions {
  int rank = 0;
  int world_size = 1;
  std::string token = {};  // a stranger's connection is refused
  std::string transport =
      "auto";  // auto: shared memory on one host, else TCP; "shm"; "tcp"; "plain" (DIST_TRANSPORT)
  Deadline deadline = Deadline::never();  // for the connections to be made
  std::string host = {};  // of this rank, empty: host_id(). Ranks of equal hosts may share memory
  // Whether that rank is known to have gone (a store's last will): nobody then waits for it to connect.
  // Empty: unknown.
  std::function<bool(int rank)> is_gone = {};
};

// Who moves messages that nobody waits for. Thread-safe.
class Mover {
 public:
  virtual ~Mover() = default;
  // Moves whatever can be moved for operations that nobody waits for right now (async point-to-point);
  // returns after `patience`, or before that: when something completed, or interrupt() was called.
  virtual void progress(Timeout patience) = 0;
  virtual void interrupt() = 0;  // wakes a progress() or wait of this rank to look again
  // Messages move without anybody who calls progress().
  virtual bool moves_alone() const { return false; }
};

// Thread-safe: several operations may run at once, each by its own thread; waiting threads share the polling.
// When a rank dies (its connection closes without a goodbye) every pending and later operation of a group
// that contains it ends with Error{peer_failed} naming it. A rank that says goodbye (destroy, normal exit)
// fails only what still needs it, and its reason is quoted.
class Endpoint : public Mover {
 public:
  ~Endpoint() override;
  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual std::unique_ptr<Transport> open(TransportOptions options) = 0;
  // A message from its start to its end, as open(), isend() or irecv() and wait() carry it, perhaps in fewer
  // steps. Returns the other rank, of the group.
  virtual int carry(const Message& message, const MessageTerms& terms, const CallLabel& label);
  // This rank's part in working without messages (peer_memory.h), for a group whose ranks all map each
  // other's memory; nullptr on every rank where one does not. Every member calls it, with a channel of its
  // own for the messages in which they agree. Errors as an operation's. The result must not outlive the
  // endpoint.
  virtual std::unique_ptr<PeerMemory> map_peers(TransportOptions options);
  // Every pending and later operation fails with Error{code} and this text. For watchdogs and shutdown.
  virtual void abort(const std::string& reason) = 0;
  // Tells the others that this rank leaves; `reason` empty when all is well. Then nothing else may be called.
  virtual void close(const std::string& reason) noexcept = 0;
  virtual std::string link_kind(int peer) const = 0;  // "self", "thread", "shm", "tcp", "plain"
  virtual bool has_cores() const { return true; }     // one for each rank of this host
};

// Called by all ranks. Publishes this rank's addresses in the store, connects the mesh and verifies the token
// and the world size. Error{timeout} names the ranks that did not come.
std::shared_ptr<Endpoint> connect_endpoint(Store& store, const EndpointOptions& options);

}  // namespace dist
