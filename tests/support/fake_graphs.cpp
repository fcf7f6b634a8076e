// Graphs of the fake device: a capture keeps what its thread enqueues, and a launch is one piece of work that
// does all of it, in an order that the capture allows.
#include <algorithm>
#include <random>
#include <utility>

#include "dist/core/fail.h"

#include "support/fake_device.h"

namespace dist::test {

FakeDevice::Capture* FakeDevice::capture_of(StreamHandle stream) {
  const auto found = captures_.find(stream);
  const bool is_own = found != captures_.end() && found->second->thread == std::this_thread::get_id();
  return is_own ? found->second.get() : nullptr;
}

bool FakeDevice::is_captured(Device device, StreamHandle stream) {
  const std::scoped_lock lock(mutex_);
  return capture_of(resolve(device, stream)) != nullptr;
}

void FakeDevice::Capture::add(StreamHandle stream, std::function<void()> node) {
  work.push_back({std::move(node), std::exchange(last[stream], {work.size()})});
  if (stream != origin) unjoined.insert(stream);
}

// As in CUDA, the call fails, and so does the capture.
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
  StreamHandle const on = resolve(device, handle);
  const auto [capture, is_new] = captures_.try_emplace(on, std::make_shared<Capture>());
  if (!is_new) fail(Errc::internal, "{}: this stream is being captured", device.str());
  capture->second->thread = std::this_thread::get_id();
  capture->second->origin = on;
}

void FakeDevice::fork_capture(Device device, StreamHandle handle, StreamHandle side) {
  const std::scoped_lock lock(mutex_);
  StreamHandle const on = resolve(device, handle), beside = resolve(device, side);
  const auto& capture = captures_.at(on);
  const auto& of_side = captures_.try_emplace(beside, capture).first->second;
  if (of_side != capture) fail(Errc::internal, "{}: that stream is captured in another graph", device.str());
  capture->last[beside].insert(capture->last[on].begin(), capture->last[on].end());
}

void FakeDevice::join_capture(Device device, StreamHandle handle, StreamHandle side) {
  const std::scoped_lock lock(mutex_);
  StreamHandle const on = resolve(device, handle), beside = resolve(device, side);
  Capture& capture = *captures_.at(on);
  capture.last[on].insert(capture.last[beside].begin(), capture.last[beside].end());
  capture.unjoined.erase(beside);
}

GraphHandle FakeDevice::end_capture(Device device, StreamHandle handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = captures_.find(resolve(device, handle));
  if (found == captures_.end()) fail(Errc::internal, "{}: this stream is not being captured", device.str());
  const std::shared_ptr<Capture> capture = found->second;
  std::erase_if(captures_, [&](const auto& each) { return each.second == capture; });
  if (!capture->broken.empty())
    fail(Errc::internal, "{}: the capture was invalidated by {}", device.str(), capture->broken);
  if (!capture->unjoined.empty())
    fail(Errc::internal, "{}: the capture ends before all its streams are joined", device.str());
  if (capture->work.empty()) return nullptr;
  auto* const graph = reinterpret_cast<GraphHandle>(++graphs_made_);
  graphs_[graph] = std::make_shared<GraphWork>(std::move(capture->work));
  return graph;
}

void FakeDevice::run(const GraphWork& work, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<bool> done(work.size());
  const auto is_next = [&](std::size_t i) {
    return !done[i] && std::ranges::all_of(work[i].after, [&](std::size_t before) { return done[before]; });
  };
  for (std::size_t left = work.size(); left > 0; --left) {
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < work.size(); ++i)
      if (is_next(i)) next.push_back(i);
    const std::size_t chosen = next[random() % next.size()];
    work[chosen].work();
    done[chosen] = true;
  }
}

void FakeDevice::launch_graph(Device device, StreamHandle stream, GraphHandle graph) {
  const std::scoped_lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) fail(Errc::internal, "{}: there is no such graph", device.str());
  ++graph_launches_;
  launch(device, stream, [all = found->second, seed = options_.seed + graph_launches_] { run(*all, seed); });
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
