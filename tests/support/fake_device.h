// A fake GPU: DeviceApi on the CPU, truly asynchronous. Every stream is a thread, so a wait that is missing
// shows as wrong data; device addresses cannot be touched by the CPU; a kernel that reaches outside an
// allocated block is an Error; new and freed memory holds garbage.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dist/core/device/caching_allocator.h"
#include "dist/core/device/graph_api.h"

#include "support/fake_memory.h"
#include "support/fake_stream.h"

namespace dist::test {

struct FakeDeviceOptions {
  int count = 1;
  std::size_t bytes = std::size_t{256} << 20;  // of memory, each
  std::chrono::microseconds longest_rest{0};   // before each kernel and copy, for another schedule each time
  std::uint64_t seed = 1;
  bool has_flags = true;
  bool exports = true;      // other processes can map its memory
  bool reaches_all = true;  // kernels of one device may touch the memory of the others
  bool caches =
      false;  // freed memory, as a GPU's is (CachingAllocator); bounds are checked less strictly then
};

// Thread-safe.
class FakeDevice final : public DeviceApi, public GraphApi {
 public:
  explicit FakeDevice(const FakeDeviceOptions& options = {});
  ~FakeDevice() override;

  int count() const override { return static_cast<int>(devices_.size()); }
  std::string bus_id(Device device) override { return "fake GPU " + std::to_string(device.index); }
  void* allocate(Device device, std::size_t bytes) override;
  void deallocate(Device device, void* pointer) noexcept override;
  Allocation allocation_of(Device device, const void* pointer) override;
  bool reaches(Device from, Device to) override { return options_.reaches_all || from == to; }
  std::vector<std::byte> export_memory(Device device, const void* pointer) override;
  void* import_memory(Device device, const std::vector<std::byte>& handle) override;
  void release_import(Device device, void* pointer) noexcept override;

  StreamHandle make_stream(Device device) override;
  void free_stream(Device device, StreamHandle stream) noexcept override;
  EventHandle make_event(Device device) override;
  void free_event(Device device, EventHandle event) noexcept override;
  void record(Device device, EventHandle event, StreamHandle stream) override;
  void stream_wait(Device device, StreamHandle stream, EventHandle event) override;
  bool is_done(Device device, EventHandle event) override;
  void synchronize(Device device, StreamHandle stream) override;
  void synchronize_event(Device device, EventHandle event) override;
  void notify(Device device, StreamHandle stream, std::function<void()> told) override;

  void register_host(Device device, void* pages, std::size_t bytes) override;
  void unregister_host(Device device, void* pages) noexcept override;
  void begin_capture(Device device, StreamHandle stream) override;
  void fork_capture(Device device, StreamHandle stream, StreamHandle side) override;
  void join_capture(Device device, StreamHandle stream, StreamHandle side) override;
  GraphHandle end_capture(Device device, StreamHandle stream) override;
  void launch_graph(Device device, StreamHandle stream, GraphHandle graph) override;
  void free_graph(Device device, GraphHandle graph) noexcept override;

  void load_kernels(Device device) override;
  bool has_flags(Device) override { return options_.has_flags; }
  void write_flag(Device device, StreamHandle stream, StreamFlag* flag, std::uint64_t value) override;
  void wait_flag(Device device, StreamHandle stream, StreamFlag* flag, std::uint64_t value) override;

  void copy(Device device, StreamHandle stream, void* to, const void* from, std::size_t bytes) override;
  void copy_rows(Device device, StreamHandle stream, void* to, const void* from,
                 const RowCopy& rows) override;
  void fill(Device device, StreamHandle stream, TensorView view, double value) override;
  void scale(Device device, StreamHandle stream, TensorView view, double factor) override;
  void divide(Device device, StreamHandle stream, TensorView view, std::int64_t divisor) override;
  void reduce(Device device, StreamHandle stream, TensorView acc, TensorView in, ReduceOp op) override;
  void reduce_many(Device device, StreamHandle stream, std::span<const TensorView> outs,
                   std::span<const TensorView> ins, ReduceOp op) override;
  void copy_parts(Device device, StreamHandle stream, std::span<const PartViews> parts) override;
  void reduce_parts(Device device, StreamHandle stream, std::span<const PartViews> parts,
                    ReduceOp op) override;
  void convert(Device device, StreamHandle stream, TensorView to, TensorView from) override;
  void unary(Device device, StreamHandle stream, TensorView out, TensorView in, UnaryOp op) override;
  void binary(Device device, StreamHandle stream, TensorView out, TensorView a, TensorView b,
              BinaryOp op) override;
  void add_scaled(Device device, StreamHandle stream, TensorView acc, TensorView in, double alpha) override;

  // For a library that puts work of its own on streams: what it does when its turn has come, and where its
  // data is then.
  void enqueue(Device device, StreamHandle stream, std::function<void()> work);
  bool is_captured(Device device, StreamHandle stream);
  TensorView on_host(Device device, const TensorView& view);

  // For tests.
  void make_foreign(const void* base);  // an allocation that no tensor of the library uses
  void hold_all(bool held);             // streams made later are held too
  void hold(Device device, StreamHandle stream, bool held);
  std::size_t backlog();              // pieces of work not finished, on all streams
  std::size_t in_use(Device device);  // bytes allocated and not yet freed
  std::size_t handles_alive();        // streams and events that have not been freed
  std::size_t host_pages_registered();
  bool is_registered_host(const void* pointer);
  void fail_kernels(Device device, bool fail);              // as a launch that CUDA refuses
  void fail_events(bool fail) { events_fail_ = fail; }      // is_done() fails, as after an illegal access
  std::size_t questions() const { return questions_; }      // is_done()
  std::size_t reductions() const { return reductions_; }    // kernels launched that reduce
  std::size_t host_bytes() const { return host_bytes_; }    // copied from or to host memory
  std::size_t detours() const { return detours_; }          // copies from or to host memory not registered
  std::size_t stray_flags() const { return stray_flags_; }  // touched by streams when not registered
  // Waits for flags that no stream has enqueued yet. Between ranks of one process CUDA may never reach it.
  std::size_t early_waits();
  // What the host has asked for: pieces of work given to streams one by one (a graph is one of them, what is
  // in it none), copies among them, graphs among them, and how often the host waited for a stream or an
  // event.
  std::size_t launches() const { return launches_; }
  std::size_t copies() const { return copies_; }
  std::size_t graph_launches() const { return graph_launches_; }
  std::size_t host_waits() const { return host_waits_; }
  std::size_t graphs_alive();
  // Detours while the stream had work left: CUDA blocks the caller, and every other caller, until it is done.
  std::size_t waiting_detours() const { return waiting_detours_; }

 private:
  using Marks = std::vector<std::shared_ptr<FakeMark>>;
  struct Event {
    std::mutex mutex;
    std::shared_ptr<FakeMark> last;  // null: never recorded
  };
  struct PerDevice {
    explicit PerDevice(std::size_t bytes) : memory(bytes) {}
    std::unique_ptr<CachingAllocator> cache;  // null: none
    FakeMemory memory;
    bool fails = false;        // its kernels
    bool has_kernels = false;  // loaded
    std::unordered_map<StreamHandle, std::unique_ptr<FakeStream>> streams;
    std::unordered_map<std::thread::id, StreamHandle> defaults;  // of threads, among the streams
    std::vector<std::pair<void*, Marks>> leaving;                // freed, when these marks are reached
  };
  void* take(Device device, std::size_t bytes);
  void give_back(Device device, void* pointer) noexcept;
  void free_unused(Device device, void* pointer);  // no stream has work with it
  // All of these with mutex_ held.
  PerDevice& at(Device device);
  FakeStream& stream(Device device, StreamHandle handle);
  StreamHandle resolve(Device device, StreamHandle handle);  // null: this thread's
  StreamHandle new_stream(Device device);
  void check_registered(const void* flag);
  void note_use_of(const void* flag);
  bool is_registered(const void* flag) const;
  void collect(PerDevice& device);
  std::byte* locate(const void* pointer, std::size_t bytes);
  TensorView locate(Device device, const TensorView& view);

  // What a thread has enqueued on a stream, and on others parallel to it, since begin_capture().
  struct GraphNode {
    std::function<void()> work;
    std::set<std::size_t> after;  // positions of others
  };
  using GraphWork = std::vector<GraphNode>;
  struct Capture {
    std::thread::id thread;
    StreamHandle origin = nullptr;
    GraphWork work;
    std::map<StreamHandle, std::set<std::size_t>> last;  // what the next node of each stream comes after
    std::set<StreamHandle> unjoined;
    std::string broken;  // what the thread did that cannot be recorded; empty: nothing
    void add(StreamHandle stream, std::function<void()> node);
  };
  // Does all of it, in one of the many orders that the graph allows, as a GPU does.
  static void run(const GraphWork& work, std::uint64_t seed);
  Capture* capture_of(StreamHandle stream);  // this thread's; null: none
  void break_capture(Device device, StreamHandle stream, std::string_view what);

  static std::shared_ptr<FakeMark> last_of(EventHandle event);
  void launch(Device device, StreamHandle stream, std::function<void()> work);

  const FakeDeviceOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PerDevice>> devices_;
  std::set<EventHandle> events_;
  std::set<const void*> foreign_;
  struct HostPages {
    std::size_t bytes = 0;
    int times = 0;
  };
  std::map<const std::byte*, HostPages> host_pages_;
  std::uint64_t streams_made_ = 0;
  std::map<StreamHandle, std::shared_ptr<Capture>> captures_;  // a side has that of its stream
  std::map<GraphHandle, std::shared_ptr<const GraphWork>> graphs_;
  std::uint64_t graphs_made_ = 0;
  std::map<const void*, std::uint64_t> promised_;  // flags, what streams will have written
  std::size_t early_waits_ = 0;
  std::atomic<std::size_t> launches_{0}, copies_{0}, graph_launches_{0}, host_waits_{0}, host_bytes_{0};
  std::atomic<std::size_t> reductions_{0}, detours_{0}, waiting_detours_{0}, stray_flags_{0}, questions_{0};
  std::atomic<bool> events_fail_{false};
  bool held_ = false;
};

// Makes a FakeDevice the cuda device while it lives.
class FakeDeviceGuard {
 public:
  explicit FakeDeviceGuard(const FakeDeviceOptions& options = {})
      : device_(std::make_shared<FakeDevice>(options)) {
    set_device_api(DeviceType::cuda, device_);
  }
  ~FakeDeviceGuard() { set_device_api(DeviceType::cuda, nullptr); }
  FakeDeviceGuard(const FakeDeviceGuard&) = delete;
  FakeDeviceGuard& operator=(const FakeDeviceGuard&) = delete;
  FakeDevice* operator->() const { return device_.get(); }

 private:
  std::shared_ptr<FakeDevice> device_;
};

}  // namespace dist::test
