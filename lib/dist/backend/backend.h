// Backend: executes the operations of one group.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dist/backend/observer.h"
#include "dist/backend/operation.h"
#include "dist/backend/work.h"
#include "dist/collectives/cost/cost_model.h"
#include "dist/store/store.h"
#include "dist/transport/endpoint.h"

namespace dist {

// A rank's place in the groups into which another one is split.
struct SplitPlace {
  int color = -1;  // which of the groups; -1: none
  int rank = -1;   // the rank in that group
  int size = 0;    // the size of that group
};

// Everything that a backend may need to serve a group. The group layer makes it on every member.
struct BackendContext {
  std::string group_name;     // unique in the job, equal on all members
  std::uint32_t context = 0;  // the group's number in message headers, equal on all members
  int rank = 0;               // this rank, in the group
  Members members;
  std::shared_ptr<Store> store;  // already prefixed for this group
  std::shared_ptr<Endpoint> endpoint;
  SendMode send_mode = SendMode::rendezvous;  // for the user's send and isend (DIST_SEND)
  std::string algorithms = {};                // DIST_ALGO
  // The costs by which choose() chooses, equal on all members before the first collective; they outlive the
  // backend. Null: the defaults.
  const CostModel* costs = nullptr;
  int nodes = 1;                          // the number of hosts of the members
  OperationObserver* observer = nullptr;  // outlives the backend
  std::shared_ptr<void> split_off = {};   // the result of Backend::split() on the parent group
};

// The options with which an operation's transports are opened. `label`: what runs, for errors
// ("ring_all_reduce").
TransportOptions options_of(const BackendContext& context, const Operation& operation, std::string label);
Channel channel_of(const BackendContext& context, const Operation& operation);
TransportOptions without_deadline(const BackendContext& context, const Operation& operation,
                                  std::string label);

// Channels of a group that belong to no operation: no collective has a number this high.
inline constexpr std::uint64_t connect_direct_tag = std::uint64_t{1} << 61;
inline constexpr std::uint64_t device_peers_tag = connect_direct_tag + 1;
inline constexpr std::uint64_t liveness_tag = connect_direct_tag + 2;
inline constexpr std::uint64_t goodbye_tag = connect_direct_tag + 3;
inline constexpr std::uint64_t lanes_tag = connect_direct_tag + 4;
// This tag plus the collective's number: the channel on which DeviceTransport sends its receipts.
inline constexpr std::uint64_t receipts_tag = std::uint64_t{1} << 60;
// The options of an operation on one of these channels.
TransportOptions options_of(const BackendContext& context, const Operation& operation, std::string label,
                            std::uint64_t tag);

// One per group and rank. Operations arrive valid (the group layer has checked dtype, shape, device and
// ranks) and with their sequence numbers. Collectives run in the order in which they were submitted;
// point-to-point operations progress independently. Collectives are submitted by one thread at a time,
// point-to-point operations by any thread.
class Backend {
 public:
  // Ends what is pending with Error{aborted}. Waits for a collective that is running on a thread of the
  // backend: so call finish() first, or abort the endpoint.
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Whether this backend has `kind` with this op and dtype on this device; if not, `why` (which may be null)
  // gets the reason.
  virtual bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device,
                        std::string* why) const = 0;
  // Runs the operation before it returns; throws its errors. Returns the source of a receive (group rank),
  // else -1.
  virtual int run(const Operation& operation) = 0;
  // Starts the operation; the Work's wait() throws its errors.
  virtual std::shared_ptr<WorkState> submit(Operation operation) = 0;
  // Starts several point-to-point operations at once (NCCL's group call); the default submits them one by
  // one.
  virtual std::vector<std::shared_ptr<WorkState>> submit_batch(std::vector<Operation> operations);
  // For groups whose members are all in this one, with the same backend: whether it can be split; and then,
  // on every member (if all can), this rank's part, for BackendContext::split_off. Either may wait until what
  // was submitted has ended.
  virtual bool can_split() { return false; }
  virtual std::shared_ptr<void> split(const SplitPlace& share, Timeout timeout) {
    (void)share, (void)timeout;
    return nullptr;
  }
  // Blocks until every collective and every send that was submitted has ended, with success or not. Receives
  // that no thread waits for are given up; returns one line about each of those.
  virtual std::vector<std::string> finish() = 0;
  // The algorithm that would run (or ran last) for this operation, for logs and tests: "ring".
  // Error{invalid_argument} when `operation.algorithm` does not exist for it.
  virtual std::string algorithm_for(const Operation& operation) const = 0;
};

// A row of the backend table.
struct BackendEntry {
  std::string_view name;
  DeviceType device;                    // the kind of device of the tensors that it takes
  bool (*available)(std::string* why);  // why not: one line that says how to get it
  std::unique_ptr<Backend> (*make)(const BackendContext&);
};

// "host" (also by PyTorch's name, "gloo"), "cuda", "nccl", "mpi", "sim"; for an unknown name
// Error{invalid_argument} lists them, and Error{unsupported} says how to get one that this build or machine
// lacks.
const BackendEntry& find_backend(std::string_view name);
const BackendEntry& backend_named(std::string_view name);  // also one that cannot be used
const std::deque<BackendEntry>& backends();
// Adds one of the program's own, which init_process_group({.backend = name}) and new_group() then know; the
// name is a literal. Call it on every rank before it joins, while no other thread calls the library. Throws
// Error{invalid_argument} for a name that exists. tests/unit/backend/own_backend_test.cpp is an example.
void register_backend(const BackendEntry& entry);

}  // namespace dist
