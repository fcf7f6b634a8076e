// What a device must offer, as a thin table of calls: streams, events, memory, copies and kernels. The CUDA
// build fills it with CUDA; tests fill it with a CPU implementation, so that all logic above it is tested
// without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/core/device/part_views.h"
#include "dist/core/device/stream_flag.h"
#include "dist/core/kernels.h"
#include "dist/core/view.h"

namespace dist {

// A stream is an in-order queue of work on a device; an event marks a point in a stream.
// Handles are owned by Stream and Event below; the api only makes and frees them.
using StreamHandle = void*;
using EventHandle = void*;

// What peers map as a whole: one piece of device memory, which contains tensors. No two pieces of a process
// ever have the same id, not even at the same address.
struct Allocation {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  std::uint64_t id = 0;
};

std::uint64_t next_allocation_id();

// A copy of `count` rows of `bytes` bytes on one device; the pitches are the distances in bytes between the
// beginnings of rows, and no less than `bytes`.
struct RowCopy {
  std::size_t bytes = 0, count = 0, to_pitch = 0, from_pitch = 0;
};

// Thread-safe.
class DeviceApi : public std::enable_shared_from_this<DeviceApi> {
 public:
  virtual ~DeviceApi() = default;
  virtual int count() const = 0;  // devices of this type
  // Which device of its host this is: equal in all processes, whatever index each of them has for it.
  virtual std::string bus_id(Device) = 0;

  virtual void* allocate(Device, std::size_t bytes) = 0;
  // Takes effect after the work enqueued so far, on any stream.
  virtual void deallocate(Device, void*) noexcept = 0;
  // The piece that the memory is in. Throws Error{invalid_argument} for memory that allocate() did not
  // return.
  virtual Allocation allocation_of(Device, const void*) = 0;
  // Whether kernels of the first device may touch memory of the second.
  virtual bool reaches(Device, Device) = 0;
  // A handle of 64 bytes for an allocation's base, which another process (or thread) of this host turns into
  // a pointer with import_memory.
  virtual std::vector<std::byte> export_memory(Device, const void* base) = 0;
  virtual void* import_memory(Device, const std::vector<std::byte>& handle) = 0;
  virtual void release_import(Device, void*) noexcept = 0;

  virtual StreamHandle make_stream(Device) = 0;
  virtual void free_stream(Device, StreamHandle) noexcept = 0;
  virtual EventHandle make_event(Device) = 0;
  virtual void free_event(Device, EventHandle) noexcept = 0;
  virtual void record(Device, EventHandle, StreamHandle) = 0;
  // Work issued later to this device's stream waits for the event, which may be another device's.
  virtual void stream_wait(Device, StreamHandle, EventHandle) = 0;
  virtual bool is_done(Device, EventHandle) = 0;
  virtual void synchronize(Device, StreamHandle) = 0;  // blocks the host
  virtual void synchronize_event(Device, EventHandle) = 0;
  // Calls `told` on a thread of the device's own once the work enqueued so far has ended. It must be quick,
  // and must call nothing of this api.
  virtual void notify(Device, StreamHandle, std::function<void()> told) = 0;

  // Registers whole pages of host memory for streams: copies from and to them need no detour, and flags in
  // them are for the calls below. Each call must be undone by one unregister_host.
  virtual void register_host(Device, void* pages, std::size_t bytes) = 0;
  virtual void unregister_host(Device, void* pages) noexcept = 0;
  // Loads the kernels of the calls below, before any stream waits for a flag. Otherwise a kernel is loaded at
  // its first launch, for which CUDA may wait for all streams: forever, when one of them waits for another
  // rank. The first kernel of a layer, of cuBLAS or of cuDNN may wait likewise, until the collectives in
  // flight have ended: CUDA_MODULE_LOADING=EAGER in the environment loads those at the start, too, which
  // takes seconds.
  virtual void load_kernels(Device) = 0;
  // Whether the next two calls exist. Both are enqueued. write_flag stores the value after all earlier work;
  // after wait_flag, later work waits until the flag has reached `value` (stream_flag.h), whichever stream of
  // any process, or host, wrote it.
  virtual bool has_flags(Device) = 0;
  virtual void write_flag(Device, StreamHandle, StreamFlag* flag, std::uint64_t value) = 0;
  virtual void wait_flag(Device, StreamHandle, StreamFlag* flag, std::uint64_t value) = 0;

  // Enqueued on the stream; at least one side of a copy is on the device.
  virtual void copy(Device, StreamHandle, void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_rows(Device, StreamHandle, void* to, const void* from, const RowCopy&) = 0;
  virtual void fill(Device, StreamHandle, TensorView, double value) = 0;
  virtual void scale(Device, StreamHandle, TensorView, double factor) = 0;
  virtual void divide(Device, StreamHandle, TensorView, std::int64_t divisor) = 0;
  virtual void reduce(Device, StreamHandle, TensorView acc, TensorView in, ReduceOp) = 0;
  virtual void reduce_many(Device, StreamHandle, std::span<const TensorView> outs,
                           std::span<const TensorView> ins, ReduceOp) = 0;
  // A list in one launch, as far as its addresses fit (cuda/kernels.h). Each part of copy_parts has one
  // input.
  virtual void copy_parts(Device, StreamHandle, std::span<const PartViews>) = 0;
  virtual void reduce_parts(Device, StreamHandle, std::span<const PartViews>, ReduceOp) = 0;
  virtual void convert(Device, StreamHandle, TensorView to, TensorView from) = 0;
  virtual void unary(Device, StreamHandle, TensorView out, TensorView in, UnaryOp) = 0;
  virtual void binary(Device, StreamHandle, TensorView out, TensorView a, TensorView b, BinaryOp) = 0;
  virtual void add_scaled(Device, StreamHandle, TensorView acc, TensorView in, double alpha) = 0;
};

// The implementation for devices of this type. Throws Error{unsupported}, which says how to get one, when
// this build or this machine has none, and when this process was forked after the first call: devices do not
// survive fork().
DeviceApi& device_api(DeviceType type);
// Installs another implementation (tests); nullptr: the build's own. Tensors keep the one that they came
// from.
void set_device_api(DeviceType type, std::shared_ptr<DeviceApi> api);

// The stream that kernels and copies of this thread go to, one per device and thread. Null is the thread's
// default stream of the device: each thread has its own, so that ranks that are threads never wait for each
// other by accident.
StreamHandle current_stream(Device device);

// A stream of its own. Move-only, like Event; both keep the API that they came from.
class Stream {
 public:
  explicit Stream(Device device);
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  StreamHandle handle() const { return handle_; }
  void synchronize() const;  // blocks the host until all work enqueued so far is done

 private:
  std::shared_ptr<DeviceApi> api_;
  Device device_;
  StreamHandle handle_ = nullptr;
};

class Event {
 public:
  explicit Event(Device device);
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  void record(StreamHandle stream);  // a stream of the same device; marks the work enqueued so far
  // Work enqueued from now on to `stream` of `device` (this device or another) runs after the marked work.
  void make_wait(Device device, StreamHandle stream) const;
  bool is_done() const;      // true for an event that was never recorded
  void synchronize() const;  // blocks the host until the event is done

 private:
  std::shared_ptr<DeviceApi> api_;
  Device device_;
  EventHandle handle_ = nullptr;
};

// Makes `stream` current for this thread and device while it lives.
class StreamGuard {
 public:
  StreamGuard(Device device, StreamHandle stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Device device_;
  StreamHandle before_;
};

}  // namespace dist
