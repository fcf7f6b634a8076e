// The calls of NCCL that the backend makes, as a thin interface: the build implements it with NCCL
// (nccl_library.cpp), tests with threads that meet in memory, so that all logic above it can be tested
// without a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "dist/core/device.h"
#include "dist/core/view.h"

namespace dist::nccl {

using UniqueId = std::array<std::byte, 128>;
using Comm = void*;  // one rank's handle of a communicator

// Every call returns at once, except destroy() and abort(). Errors are Error{internal} and others, with
// NCCL's words and what they mean (explain.h). One thread at a time calls with the same communicator.
class Library {
 public:
  virtual ~Library() = default;
  virtual std::string version() const = 0;  // "2.28.9"

  virtual UniqueId make_id() = 0;
  // begin() begins to connect, and so do the calls below that need a connection: until is_busy() is false,
  // only abort() may be called.
  virtual Comm begin(Device device, int ranks, const UniqueId& id, int rank) = 0;
  // Whether begin_split() exists and can be relied on.
  virtual bool can_split() const = 0;
  // Begins to make communicators out of one that is connected and has nothing to do; all its ranks call it.
  // Ranks with one color (0 and more) are together, in the order of their keys; color -1 is in none. `made`
  // is written by the time that `parent` is no longer busy, and must stay in place until then.
  virtual void begin_split(Comm parent, int color, int key, Comm* made) = 0;
  // Throws what went wrong with anything that was called before, here or on another rank, as far as NCCL
  // knows.
  virtual bool is_busy(Comm comm) = 0;
  virtual void finalize(Comm comm) = 0;  // begins the end, when all its work has ended
  // The next two may take any time, perhaps forever. `device`: the one with which the communicator was begun.
  virtual void destroy(Device device, Comm comm) noexcept = 0;
  // Ends everything on streams that waits for another rank; destroys the communicator.
  virtual void abort(Device device, Comm comm) noexcept = 0;

  // Everything called between these two is one operation: none of it waits for the rest.
  virtual void begin_group() = 0;
  virtual void end_group() = 0;

  // The following are enqueued on a stream of the communicator's device. `in` and `out` may be the same
  // memory.
  virtual void all_reduce(Comm comm, TensorView in, TensorView out, ReduceOp op, StreamHandle stream) = 0;
  virtual void reduce(Comm comm, TensorView in, TensorView out, ReduceOp op, int root,
                      StreamHandle stream) = 0;
  virtual void broadcast(Comm comm, TensorView in, TensorView out, int root, StreamHandle stream) = 0;
  // `out`: as many elements from each rank as `in` has.
  virtual void all_gather(Comm comm, TensorView in, TensorView out, StreamHandle stream) = 0;
  // `in`: as many elements for each rank as `out` has.
  virtual void reduce_scatter(Comm comm, TensorView in, TensorView out, ReduceOp op, StreamHandle stream) = 0;
  virtual void send(Comm comm, TensorView in, int peer, StreamHandle stream) = 0;
  virtual void recv(Comm comm, TensorView out, int peer, StreamHandle stream) = 0;
};

// The build's library; Error{unsupported} says how to get it where there is none.
std::shared_ptr<Library> open_library();
// Installs another library (for tests); nullptr: the build's own.
void set_library(std::shared_ptr<Library> library);
std::shared_ptr<Library> library();  // the one that is in use

}  // namespace dist::nccl
