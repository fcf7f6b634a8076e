// Communicator: the NCCL communicator of one group, on this rank. Everything that may take NCCL long is
// polled, never waited for, so that a deadline, a death and an aborted group end it with an error of the
// library.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dist/backend/backend.h"
#include "dist/backend/nccl/ending.h"
#include "dist/backend/nccl/library.h"

namespace dist::nccl {

// How long to wait, and what to check in the meantime.
struct Patience {
  Deadline deadline = Deadline::never();
  std::function<void()> look;  // sleeps for a short time; throws when waiting is useless
  std::string doing;           // "rank 2: all_reduce #0 (4 f32) at train.cpp:41", for errors
};

class Communicator {
 public:
  // Every member calls it. The first one makes the id and puts it into the group's store.
  Communicator(std::shared_ptr<Library> library, Device device, const BackendContext& context,
               const Patience& patience);
  // For a communicator that NCCL has already made.
  Communicator(std::shared_ptr<Library> library, Device device, Comm comm, int rank, int size);
  ~Communicator() { abort(); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Device device() const { return device_; }

  // Makes communicators of its ranks, which all call it and have nothing else under way: see
  // Library::begin_split. Null for color -1. If it fails, this communicator is aborted.
  std::unique_ptr<Communicator> split(const SplitPlace& share, const Patience& patience);

  // Enqueues what `calls` does as one operation.
  using Calls = std::function<void(Library& library, Comm comm)>;
  void run(const Calls& calls, const Patience& patience);
  // Enqueues what several communicators of one library do as one operation: nothing of it waits for the rest.
  // Each has run before, because a first operation waits for the other rank, and the others would wait with
  // it. `parts`: no communicator twice, and in an order that is the same on all ranks and threads.
  struct Part {
    Communicator& communicator;
    Calls calls;
    Patience patience;
  };
  static void run_together(const std::vector<Part>& parts);
  // The next two may be called from any thread.
  void check();           // throws what has gone wrong since
  void abort() noexcept;  // what was enqueued soon stops waiting; nothing can be run afterwards
  // The last call of every rank, when all work has ended. `in_graphs`: graphs with its work are left, so NCCL
  // ends it when they are gone, and nothing waits for that.
  void close(const Patience& patience, bool in_graphs = false);

 private:
  UniqueId agree_on_id(const BackendContext& context, const Patience& patience);
  void await(const Patience& patience, std::string_view what);
  bool is_busy();
  static void enqueue(const std::vector<Part>& parts);
  Comm use();   // with mutex_ held
  Comm take();  // a caller that gets it (not null) must end it

  const std::shared_ptr<Library> library_;
  const Device device_;
  const int rank_, size_;
  std::mutex running_;  // held while an operation is enqueued: NCCL takes one at a time
  std::mutex mutex_;    // guards the handle, and every call with it
  Comm comm_ = nullptr;
  Ending ending_;
};

}  // namespace dist::nccl
