// What a device must offer, as a thin table of calls: streams, events, memory, copies and kernels. The CUDA
// build fills it with CUDA; tests fill it with a CPU implementation, so that all logic above it is proved
// without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dist/core/kernels.h"
#include "dist/core/view.h"

namespace dist {

// A stream is an in-order queue of work on a device; an event marks a point in a stream.
// Handles are owned by Stream and Event below; the api only makes and frees them.
using StreamHandle = void*;
using EventHandle = void*;

class DeviceApi : public std::enable_shared_from_this<DeviceApi> {
 public:
  virtual ~DeviceApi() = default;
  virtual int count() const = 0;  // devices of this type

  virtual void* allocate(Device, std::size_t bytes) = 0;  // peers can map it through export_memory
  virtual void deallocate(Device,
                          void*) noexcept = 0;  // takes effect after the work enqueued so far, on any stream
  // A handle that another process (or thread) of this host turns into a pointer with import_memory.
  virtual std::vector<std::byte> export_memory(Device, const void*) = 0;
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

  // Enqueued on the stream; at least one side of a copy is on the device.
  virtual void copy(Device, StreamHandle, void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(Device, StreamHandle, TensorView, double value) = 0;
  virtual void scale(Device, StreamHandle, TensorView, double factor) = 0;
  virtual void divide(Device, StreamHandle, TensorView, std::int64_t divisor) = 0;
  virtual void reduce(Device, StreamHandle, TensorView acc, TensorView in, ReduceOp) = 0;
  virtual void convert(Device, StreamHandle, TensorView to, TensorView from) = 0;
  virtual void unary(Device, StreamHandle, TensorView out, TensorView in, UnaryOp) = 0;
  virtual void binary(Device, StreamHandle, TensorView out, TensorView a, TensorView b, BinaryOp) = 0;
  virtual void add_scaled(Device, StreamHandle, TensorView acc, TensorView in, double alpha) = 0;
};

// The implementation for cuda devices; Error{unsupported} saying how to get one when this build has none.
DeviceApi& device_api(DeviceType type);
// Replaces it (tests, and the CUDA build at load time). nullptr removes it. Tensors keep the one they came
// from.
void set_device_api(DeviceType type, std::shared_ptr<DeviceApi> api);

// The stream that kernels and copies of this thread go to, one per device and thread; null is the default
// stream of the device.
StreamHandle current_stream(Device device);

// A stream of its own. Move-only, like Event; both keep the api they came from.
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

  void record(StreamHandle stream);  // of the same device: marks the work enqueued so far
  // Work enqueued from now on to `stream` of `device`, the same or another, runs after what was marked.
  void make_wait(Device device, StreamHandle stream) const;
  bool is_done() const;  // an event never recorded is done

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
