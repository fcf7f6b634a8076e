// The calls of NCCL that the backend makes, as a thin interface: the build fills it with NCCL
// (nccl_library.cpp), tests with threads that meet in memory, so that all logic above it is proved without a
// GPU.
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

// Every call returns at once, but for destroy() and abort(). Errors are Error{Errc::internal} and others with
// NCCL's words and what they mean (explain.h). One thread at a time calls with the same communicator.
class Library {
 public:
  virtual ~Library() = default;
  virtual std::string version() const = 0;  // "2.28.9"

  virtual UniqueId make_id() = 0;
  // This begins to connect, and so do those calls below that need a connection: until is_busy() is false
  // nothing else may be called but abort().
  virtual Comm begin(Device device, int ranks, const UniqueId& id, int rank) = 0;
  // Whether there is begin_split() that one can rely on.
  virtual bool can_split() const = 0;
  // Begins to make communicators out of one that is connected and has nothing to do; all its ranks call it.
  // Those of one color (0 and more) are together, in the order of their keys; color -1 is in none. `made` is
  // written by the time that `parent` is busy no more, and stays where it is until then.
  virtual void begin_split(Comm parent, int color, int key, Comm* made) = 0;
  // Throws what went wrong with anything that was called before, here or on another rank, as far as NCCL
  // knows.
  virtual bool is_busy(Comm comm) = 0;
  virtual void finalize(Comm comm) = 0;  // begins the end: all its work has ended
  // The next two take as long as they like, perhaps for ever. Of the device that it was begun with.
  virtual void destroy(Device device, Comm comm) noexcept = 0;
  // What waits on a stream for another rank ends; destroys it.
  virtual void abort(Device device, Comm comm) noexcept = 0;

  // What is called between the two is one operation: none of it waits for the rest.
  virtual void begin_group() = 0;
  virtual void end_group() = 0;

  // Enqueued on a stream of the communicator's device. Views of `in` and `out` may be the same memory.
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

// The build's; Error{unsupported} says how to get one where there is none.
std::shared_ptr<Library> open_library();
// Puts another in its place (tests); nullptr: the build's own.
void set_library(std::shared_ptr<Library> library);
std::shared_ptr<Library> library();  // the one in place

}  // namespace dist::nccl
