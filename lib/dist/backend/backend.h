// Backend: who executes the operations of one group.
#pragma once

#include <memory>
#include <span>
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

// A rank's place in the groups that another one is split into.
struct SplitPlace {
  int color = -1;  // which of them; -1: none
  int rank = -1;   // in it
  int size = 0;    // of it
};

// Everything a backend may need to serve a group. Made by the group layer on every member.
struct BackendContext {
  std::string group_name;     // unique in the job, equal on all members
  std::uint32_t context = 0;  // the group's number in message headers, equal on all members
  int rank = 0;               // in the group
  Members members;
  std::shared_ptr<Store> store;  // already prefixed for this group
  std::shared_ptr<Endpoint> endpoint;
  SendMode send_mode = SendMode::rendezvous;  // of the user's send/isend (DIST_SEND)
  std::string algorithms = {};                // DIST_ALGO
  // What choose() goes by, equal on all members by the first collective; outlives the backend. Null:
  // defaults.
  const CostModel* costs = nullptr;
  int nodes = 1;                          // hosts of the members
  OperationObserver* observer = nullptr;  // outlives the backend
  std::shared_ptr<void> split_off = {};   // what Backend::split() of the group that it is made of gave
};

// One per group and rank. Operations arrive valid (the group layer checked dtype, shape, device and ranks)
// and with their sequence numbers. Collectives run in the order they were submitted; point-to-point
// operations progress independently. Collectives are submitted by one thread at a time; point-to-point
// operations by any thread.
class Backend {
 public:
  // Ends what is pending with Error{aborted}. A collective that is running on a thread of the backend is
  // waited for: call finish() first, or abort the endpoint.
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Whether this backend has `kind` with this op and dtype on this device; the reason when it has not, for
  // who wants it (`why` may be null).
  virtual bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device,
                        std::string* why) const = 0;
  // Runs the operation before it returns; errors are thrown. Returns the source of a receive (group rank),
  // else -1.
  virtual int run(const Operation& operation) = 0;
  // Starts it; errors surface in the Work's wait().
  virtual std::shared_ptr<WorkState> submit(Operation operation) = 0;
  // Several point-to-point operations at once (NCCL's group call); the default submits one by one.
  virtual std::vector<std::shared_ptr<WorkState>> submit_batch(std::vector<Operation> operations);
  // For groups made of this one's members, with the same backend: whether it can be split, and then, on every
  // member (all can), this rank's part, for BackendContext::split_off. Either may wait until what was
  // submitted has ended.
  virtual bool can_split() { return false; }
  virtual std::shared_ptr<void> split(const SplitPlace& share, Timeout timeout) {
    (void)share, (void)timeout;
    return nullptr;
  }
  // Blocks until every collective and every send that was submitted has ended, well or not. Receives that
  // nobody waits for are given up; returns one line about each of those.
  virtual std::vector<std::string> finish() = 0;
  // The algorithm that would run (or ran last) for this operation, for logs and tests: "ring".
  // Error{invalid_argument} when `operation.algorithm` does not exist for it.
  virtual std::string algorithm_for(const Operation& operation) const = 0;
};

// A row of the backend table.
struct BackendEntry {
  std::string_view name;
  DeviceType device;                    // of the tensors it takes
  bool (*available)(std::string* why);  // why: one line that says how to get it
  std::unique_ptr<Backend> (*make)(const BackendContext&);
};

// "host" (also by PyTorch's name, "gloo"), "cuda", "nccl", "mpi", "sim"; Error{invalid_argument} lists them
// for an unknown name and Error{unsupported} says how to get one that this build or machine lacks.
const BackendEntry& find_backend(std::string_view name);
const BackendEntry& backend_named(std::string_view name);  // whether it can be used or not
std::span<const BackendEntry> backends();

}  // namespace dist
