// Recording: capture of this thread's stream, cut where the host must act (cut), what belongs to each graph
// (around), and the memory of what is made meanwhile. RecordedWork: its launch.
#include "dist/core/device/recording.h"

#include <algorithm>
#include <utility>

#include "dist/core/fail.h"

namespace dist {

namespace {

thread_local Recording* recording = nullptr;

}  // namespace

Graph::Graph(Graph&& other) noexcept
    : api_(std::move(other.api_)), device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}
Graph::~Graph() {
  if (handle_) api_->free_graph(device_, handle_);
}
void Graph::launch() const { api_->launch_graph(device_, current_stream(device_), handle_); }

void RecordedWork::launch() {
  if (thread_ != std::this_thread::get_id() || stream_ != current_stream(device_))
    fail(Errc::invalid_argument,
         "recorded work of {} is launched on a thread or stream other than the one it was recorded on; use "
         "it on one",
         device_.str());
  for (const Part& part : parts_) {
    part.launch();
    if (part.then) part.then();
  }
}

void RecordedWork::launch_graphs_alone() {
  for (const Part& part : parts_) part.launch();
}

void RecordedWork::Part::launch() const {
  for (const auto& each : around) each->before();
  if (!graph.is_empty()) graph.launch();
  for (const auto& each : around) each->after();
}

std::size_t RecordedWork::graphs() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(parts_, [](const Part& part) { return !part.graph.is_empty(); }));
}

Recording::Recording(Device device, bool has_collectives)
    : api_(device_api(device.type).shared_from_this()),
      graphs_(std::dynamic_pointer_cast<GraphApi>(api_)),
      device_(device),
      has_collectives_(has_collectives) {
  if (!graphs_) fail(Errc::unsupported, "{} has no graphs; take the step without one", device.str());
  if (recording)
    fail(Errc::invalid_argument,
         "this thread is already recording; end that recording before you begin another");
  work_.device_ = device;
  work_.stream_ = current_stream(device);
  work_.thread_ = std::this_thread::get_id();
  api_->synchronize(device, work_.stream_);
  begin();
  ++alive_;
}

Recording::~Recording() {
  --alive_;
  leave();
}

Recording* Recording::of_this_thread() { return recording; }

void Recording::begin() {
  graphs_->begin_capture(device_, work_.stream_);
  is_capturing_ = true;
  recording = this;
}

void Recording::cut(std::function<void()> then) {
  is_capturing_ = false;
  auto& part = work_.parts_.emplace_back();
  part.graph = Graph(graphs_, device_, graphs_->end_capture(device_, work_.stream_));
  for (auto& [owner, each] : std::exchange(around_, {})) part.around.push_back(std::move(each));
  part.then = std::move(then);
}

AroundLaunch& Recording::around(const void* owner,
                                const std::function<std::unique_ptr<AroundLaunch>()>& make) {
  const auto found = std::ranges::find(around_, owner, &decltype(around_)::value_type::first);
  return *(found != around_.end() ? *found : around_.emplace_back(owner, make())).second;
}

void Recording::aside(const std::function<void()>& f) {
  const struct Aside {
    Recording* const before = std::exchange(recording, nullptr);
    ~Aside() { recording = before; }
  } scope;
  f();
}

void Recording::between(std::function<void()> f) {
  if (!recording) return f();
  recording->cut(std::move(f));
  recording->begin();
}

void Recording::refuse_here(std::string_view what, CallSite at) {
  fail(Errc::unsupported,
       "{} at {}, while a step is recorded as a graph: later steps would not do it. Move it out of the step, "
       "or take the step without a graph",
       what, at.str());
}

RecordedWork Recording::finish() {
  cut({});
  leave();
  for (Memory& memory : memory_) work_.memory_.push_back(std::move(memory.storage));
  return std::move(work_);
}

// What is wrong with a capture that is given up does not matter any more.
void Recording::leave() noexcept {
  if (recording == this) recording = nullptr;
  if (is_capturing_) {
    is_capturing_ = false;
    try {
      const Graph unused(graphs_, device_, graphs_->end_capture(device_, work_.stream_));
    } catch (const std::exception&) {  // the capture has failed; its user has been notified
    }
  }
  for (const auto& f : std::exchange(afterwards_, {})) f();
}

std::shared_ptr<Storage> Recording::make_storage(Device device, std::size_t bytes) {
  const bool is_recorded = recording && device.type != DeviceType::cpu;
  return is_recorded ? recording->storage(device, bytes) : std::make_shared<Storage>(device, bytes);
}

// Blocks of suitable sizes only, as CachingAllocator has it.
std::shared_ptr<Storage> Recording::storage(Device device, std::size_t bytes) {
  if (device != device_)
    fail(Errc::unsupported,
         "a tensor on {} is made while a step on {} is recorded as a graph; use one device", device.str(),
         device_.str());
  const auto suits = [bytes](const Memory& memory) {
    return memory.storage.use_count() == 1 && memory.bytes >= bytes && memory.bytes / 2 <= bytes;
  };
  const auto found = std::ranges::find_if(memory_, suits);
  if (found != memory_.end()) return found->storage;
  return memory_.emplace_back(Memory{std::make_shared<Storage>(device, bytes), bytes}).storage;
}

}  // namespace dist
