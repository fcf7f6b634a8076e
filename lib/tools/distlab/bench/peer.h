// Another library that does the same calls, to compare with: one function a collective.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dist/core/types.h"

namespace distlab::bench {

// The arguments of one call; `count` is the elements of a share. In place: scatter, gather, all_gather and
// the reductions take their input where the output goes, as the library itself would have it.
struct PeerCall {
  void *in = nullptr, *out = nullptr;
  std::int64_t count = 0;
  dist::DType dtype = dist::DType::f32;
  dist::ReduceOp op;
  int root = 0;
  bool in_place = false;
};

// One a process. Calls block until their result is there; all ranks make the same calls. Errors end the job.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string title() const = 0;  // "Open MPI 4.1.4"
  virtual void all_reduce(const PeerCall& call) = 0;
  virtual void broadcast(const PeerCall& call) = 0;
  virtual void reduce(const PeerCall& call) = 0;
  virtual void all_gather(const PeerCall& call) = 0;
  // In place: the input fills `in`, the result lies at its beginning (MPI) or at this rank's share (distlab).
  virtual void reduce_scatter(const PeerCall& call) = 0;
  virtual void all_to_all(const PeerCall& call) = 0;
  virtual void scatter(const PeerCall& call) = 0;
  virtual void gather(const PeerCall& call) = 0;
  virtual void barrier() = 0;
  virtual void send(const PeerCall& call, int to) = 0;    // `in`
  virtual void recv(const PeerCall& call, int from) = 0;  // `out`
  // Ends all ranks at once, when one has failed and the others may wait for it.
  virtual void abort() = 0;
};

// Joins the job that mpirun started. Error{unsupported} says how to get MPI where this build has none.
std::unique_ptr<Peer> make_mpi_peer();

}  // namespace distlab::bench
