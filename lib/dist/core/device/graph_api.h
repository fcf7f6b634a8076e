// What a device offers for graphs, in addition to DeviceApi: work that is recorded from a stream and then
// launched as a whole, again and again.
#pragma once

#include "dist/core/device.h"

namespace dist {

using GraphHandle = void*;

// A DeviceApi that has graphs derives from this, too. Thread-safe.
class GraphApi {
 public:
  virtual ~GraphApi() = default;
  // From begin_capture() to end_capture(), what this thread enqueues on the stream is recorded and not done:
  // kernels, and copies within device memory. The stream must be idle before, and nothing may wait for it or
  // for an event of it in the meantime. Other threads are not affected.
  virtual void begin_capture(Device, StreamHandle) = 0;
  // For work in parallel with that of the captured stream, by the same thread: what is enqueued on `side`
  // from now on is recorded, too, and runs after what was recorded from `stream` before. After
  // join_capture(), what is enqueued on `stream` runs after what `side` was given. Work of a side that is
  // never joined is an error.
  virtual void fork_capture(Device, StreamHandle stream, StreamHandle side) = 0;
  virtual void join_capture(Device, StreamHandle stream, StreamHandle side) = 0;
  // Null if nothing was recorded. Throws if something was recorded that cannot be.
  virtual GraphHandle end_capture(Device, StreamHandle) = 0;
  virtual void launch_graph(Device, StreamHandle, GraphHandle) = 0;  // enqueued
  // What was launched before still ends.
  virtual void free_graph(Device, GraphHandle) noexcept = 0;
};

}  // namespace dist
