// Graphs of the fake device: a capture keeps what its thread enqueues, and a launch is one piece of work that
// does all of it.
#include <utility>

#include "dist/core/fail.h"

#include "support/fake_device.h"

namespace dist::test {

FakeDevice::Capture* FakeDevice::capture_of(StreamHandle stream) {
  const auto found = captures_.find(stream);
  const bool is_own = found != captures_.end() && found->second.thread == std::this_thread::get_id();
  return is_own ? &found->second : nullptr;
}

// As CUDA, the call fails, and so does the capture.
void FakeDevice::break_capture(Device device, StreamHandle stream, std::string_view what) {
  Capture* const capture = capture_of(resolve(device, stream));
  if (!capture) return;
  capture->broken = what;
  fail(Errc::internal, "{}: {} is not permitted when the stream is capturing", device.str(), what);
}

void FakeDevice::begin_capture(Device device, StreamHandle handle) {
  const std::scoped_lock lock(mutex_);
  if (!stream(device, handle).is_idle())
    fail(Errc::internal, "{}: a capture begins while its stream has work", device.str());
  const auto [capture, is_new] = captures_.try_emplace(resolve(device, handle));
  if (!is_new) fail(Errc::internal, "{}: this stream is being captured", device.str());
  capture->second.thread = std::this_thread::get_id();
}

GraphHandle FakeDevice::end_capture(Device device, StreamHandle handle) {
  const std::scoped_lock lock(mutex_);
  auto ended = captures_.extract(resolve(device, handle));
  if (ended.empty()) fail(Errc::internal, "{}: this stream is not being captured", device.str());
  Capture& capture = ended.mapped();
  if (!capture.broken.empty())
    fail(Errc::internal, "{}: the capture was invalidated by {}", device.str(), capture.broken);
  if (capture.work.empty()) return nullptr;
  auto* const graph = reinterpret_cast<GraphHandle>(++graphs_made_);
  graphs_[graph] = std::make_shared<GraphWork>(std::move(capture.work));
  return graph;
}

void FakeDevice::launch_graph(Device device, StreamHandle stream, GraphHandle graph) {
  const std::scoped_lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) fail(Errc::internal, "{}: there is no such graph", device.str());
  ++graph_launches_;
  launch(device, stream, [all = found->second] {
    for (const auto& work : *all) work();
  });
}

void FakeDevice::free_graph(Device, GraphHandle graph) noexcept {
  const std::scoped_lock lock(mutex_);
  graphs_.erase(graph);
}

std::size_t FakeDevice::graphs_alive() {
  const std::scoped_lock lock(mutex_);
  return graphs_.size();
}

}  // namespace dist::test
