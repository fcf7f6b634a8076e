// Communicator: one group's, on this rank. Everything that NCCL may take long for is asked about, never
// waited for, so a deadline, a death and an aborted group end it with an error of ours.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "dist/backend/backend.h"
#include "dist/backend/nccl/ending.h"
#include "dist/backend/nccl/library.h"

namespace dist::nccl {

// How long, and what else, to look at meanwhile.
struct Patience {
  Deadline deadline = Deadline::never();
  std::function<void()> look;  // rests a little; throws when the wait is in vain
  std::string doing;           // "rank 2: all_reduce #0 (4 f32) at train.cpp:41", for errors
};

class Communicator {
 public:
  // Every member calls it. The first one makes the id and puts it in the group's store.
  Communicator(std::shared_ptr<Library> library, Device device, const BackendContext& context,
               const Patience& patience);
  // One that NCCL has made.
  Communicator(std::shared_ptr<Library> library, Device device, Comm comm, int rank, int size);
  ~Communicator() { abort(); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Device device() const { return device_; }

  // Makes communicators of its ranks, which all call it and have nothing else under way: as
  // Library::begin_split. Null for color -1. If it fails, this one is aborted.
  std::unique_ptr<Communicator> split(const SplitPlace& share, const Patience& patience);

  // Enqueues what `calls` does as one operation.
  using Calls = std::function<void(Library& library, Comm comm)>;
  void run(const Calls& calls, const Patience& patience);
  // The next two: from any thread.
  void check();           // throws what has gone wrong meanwhile
  void abort() noexcept;  // soon what was enqueued waits for nobody any more; nothing can be run afterwards
  // The last thing all ranks do, when all work has ended.
  void close(const Patience& patience);

 private:
  UniqueId agree_on_id(const BackendContext& context, const Patience& patience);
  void await(const Patience& patience, std::string_view what);
  bool is_busy();
  void enqueue(const Calls& calls);
  Comm use();   // with mutex_ held
  Comm take();  // whoever gets it, not null, ends it

  const std::shared_ptr<Library> library_;
  const Device device_;
  const int rank_, size_;
  std::mutex mutex_;  // of the handle, and of every call with it
  Comm comm_ = nullptr;
  Ending ending_;
};

}  // namespace dist::nccl
