// Backend: who executes the operations of one group.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dist/backend/operation.h"
#include "dist/backend/work.h"
#include "dist/store/store.h"
#include "dist/transport/endpoint.h"

namespace dist {

// Everything a backend may need to serve a group. Made by the group layer on every member.
struct BackendContext {
  std::string group_name;           // unique in the job, equal on all members
  std::uint32_t context = 0;        // the group's number in message headers, equal on all members
  int rank = 0;                     // in the group
  std::vector<int> members;         // global rank of each group rank
  std::shared_ptr<Store> store;     // already prefixed for this group
  std::shared_ptr<Endpoint> endpoint;
  SendMode send_mode = SendMode::rendezvous;  // of the user's send/isend (DIST_SEND)
};

// One per group and rank. Operations arrive valid (the group layer checked dtype, shape, device and ranks) and with
// their sequence numbers. Collectives run in the order they were submitted; point-to-point operations progress
// independently. Called by one thread at a time.
class Backend {
 public:
  virtual ~Backend() = default;  // ends what is pending with Error{aborted}
  virtual std::string_view name() const = 0;
  // Whether this backend has `kind` with this op and dtype on this device; the reason when it has not.
  virtual bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType device, std::string* why) const = 0;
  // Runs the operation before it returns; errors are thrown.
  virtual void run(const Operation& operation) = 0;
  // Starts it; errors surface in the Work's wait().
  virtual std::shared_ptr<WorkState> submit(Operation operation) = 0;
  // Several point-to-point operations at once (NCCL's group call); the default submits one by one.
  virtual std::vector<std::shared_ptr<WorkState>> submit_batch(std::vector<Operation> operations);
  // The algorithm that would run (or ran last) for this operation, for logs and tests: "ring".
  virtual std::string algorithm_for(const Operation& operation) const = 0;
};

// A row of the backend table.
struct BackendEntry {
  std::string_view name;
  bool (*available)(std::string* why);  // why: one line that says how to get it
  std::unique_ptr<Backend> (*make)(const BackendContext&);
};

// "host", "cuda", "nccl", "mpi", "sim"; Error{invalid_argument} lists them for an unknown name and
// Error{unsupported} says how to get one that this build or machine lacks.
const BackendEntry& find_backend(std::string_view name);
const std::vector<BackendEntry>& backends();

}  // namespace dist
