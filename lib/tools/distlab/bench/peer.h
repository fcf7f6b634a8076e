// Peer: another library to compare with, with one function per collective.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dist/core/types.h"

namespace distlab::bench {

// The arguments of one call; `count` is the number of elements per part. In place, scatter, gather,
// all_gather and the reductions take their input from the output buffer, by the library's own rules.
struct PeerCall {
  void *in = nullptr, *out = nullptr;
  std::int64_t count = 0;
  dist::DType dtype = dist::DType::f32;
  dist::ReduceOp op;
  int root = 0;
  bool in_place = false;
};

// A process has one Peer. Calls block until their result is complete, and all ranks make the same calls.
// Errors end the job.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string title() const = 0;  // "Open MPI 4.1.4"
  virtual void all_reduce(const PeerCall& call) = 0;
  virtual void broadcast(const PeerCall& call) = 0;
  virtual void reduce(const PeerCall& call) = 0;
  virtual void all_gather(const PeerCall& call) = 0;
  // In place: the input fills `in`, and the result is at its beginning (MPI) or at this rank's part
  // (distlab).
  virtual void reduce_scatter(const PeerCall& call) = 0;
  virtual void all_to_all(const PeerCall& call) = 0;
  virtual void scatter(const PeerCall& call) = 0;
  virtual void gather(const PeerCall& call) = 0;
  virtual void barrier() = 0;
  virtual void send(const PeerCall& call, int to) = 0;    // `in`
  virtual void recv(const PeerCall& call, int from) = 0;  // `out`
  // Ends all ranks at once, because other ranks may wait for one that has failed.
  virtual void abort() = 0;
};

// Joins the job that mpirun started. If this build has no MPI, throws Error{unsupported} that says how to get
// it.
std::unique_ptr<Peer> make_mpi_peer();

}  // namespace distlab::bench
