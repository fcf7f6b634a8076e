// Recording: what a thread enqueues on a device is recorded instead of done, and then launched as graphs
// again and again. The host's own code runs once, so what it must do each time is given to between().
//
//   Recording recording(device);
//   ... layers: kernels and copies on the device ...
//   recording.between([&] { optimizer.step(); });
//   RecordedWork work = recording.finish();
//   work.launch();                       // now it is done, for the first time
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/device/graph_api.h"
#include "dist/core/memory/storage.h"

namespace dist {

// A graph of one device. Move-only.
class Graph {
 public:
  Graph() = default;  // nothing to launch
  Graph(std::shared_ptr<GraphApi> api, Device device, GraphHandle handle)
      : api_(std::move(api)), device_(device), handle_(handle) {}
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  bool is_empty() const { return handle_ == nullptr; }
  void launch() const;  // on the current stream

 private:
  std::shared_ptr<GraphApi> api_;
  Device device_;
  GraphHandle handle_ = nullptr;
};

// What the host does each time before and after one graph is launched.
class AroundLaunch {
 public:
  virtual ~AroundLaunch() = default;
  virtual void before() = 0;  // throws: the graph is not launched
  virtual void after() = 0;   // the graph was enqueued on the current stream
};

// What was recorded, and the memory of the tensors that were made in the meantime. What else the work uses
// must outlive it and stay where it is.
class RecordedWork {
 public:
  // Enqueues the graphs, and calls what is between them, in order. Throws Error{invalid_argument} on another
  // thread or with another current stream than that of the recording: its memory is reused in the order of
  // one stream.
  void launch();
  void launch_graphs_alone();  // without what is between them, for measurements
  std::size_t graphs() const;  // launched each time

 private:
  friend class Recording;
  struct Part {
    Graph graph;
    std::vector<std::unique_ptr<AroundLaunch>> around;
    std::function<void()> then;
    void launch() const;
  };
  std::vector<Part> parts_;
  std::vector<std::shared_ptr<Storage>> memory_;
  std::vector<std::shared_ptr<const void>> kept_;
  Device device_;
  StreamHandle stream_ = nullptr;
  std::thread::id thread_;
};

class Recording {
 public:
  // From now on, and as long as it lives, this thread's work on the current stream of the device is recorded.
  // `has_collectives`: so are collectives, by backends that can. A thread has one at a time. Waits for the
  // stream's earlier work. Throws Error{unsupported} for a device without graphs.
  explicit Recording(Device device, bool has_collectives = false);
  ~Recording();  // without finish(): nothing is done
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // This thread's recording. Null if its work is done as usual, as within the functions given to between().
  static Recording* current() {
    return alive_.load(std::memory_order_relaxed) > 0 ? of_this_thread() : nullptr;
  }
  // Calls f now or, while this thread records, at this place of each launch.
  static void between(std::function<void()> f);
  // Calls f now, and once, as if this thread did not record. It must not use the recorded stream.
  static void aside(const std::function<void()>& f);
  // Throws Error{unsupported} if this thread records: what a graph cannot do. "all_reduce at train.cpp:12,
  // while a step is recorded ...".
  static void refuse(std::string_view what, CallSite at) {
    if (current()) refuse_here(what, at);
  }
  RecordedWork finish();

  Device device() const { return device_; }
  bool has_collectives() const { return has_collectives_; }
  // Work of this thread on `side`, a stream of the device: GraphApi::fork_capture() and join_capture().
  void fork(StreamHandle side) { graphs_->fork_capture(device_, work_.stream_, side); }
  void join(StreamHandle side) { graphs_->join_capture(device_, work_.stream_, side); }
  // What `owner` does around each launch of the graph that is being recorded now; made when it is first asked
  // for.
  AroundLaunch& around(const void* owner, const std::function<std::unique_ptr<AroundLaunch>()>& make);

  // For what makes tensors: memory of at least this many bytes on `device`. While this thread records, it
  // belongs to what is recorded; that of a tensor that is gone is used again, as the work is on one stream.
  static std::shared_ptr<Storage> make_storage(Device device, std::size_t bytes);
  // For what frees device memory: calls f now or, if this thread is recording, afterwards.
  template <class F>
  static void after(F f) {
    if (Recording* const now = current())
      now->afterwards_.push_back(std::move(f));
    else
      f();
  }
  // Keeps this alive with the recorded work.
  void keep(std::shared_ptr<const void> used) { work_.kept_.push_back(std::move(used)); }

 private:
  static Recording* of_this_thread();
  [[noreturn]] static void refuse_here(std::string_view what, CallSite at);
  void begin();
  std::shared_ptr<Storage> storage(Device device, std::size_t bytes);
  void cut(std::function<void()> then);
  void leave() noexcept;

  struct Memory {
    std::shared_ptr<Storage> storage;
    std::size_t bytes;
  };
  inline static std::atomic<int> alive_{0};  // of all threads: 0 in most programs, which ask in every call
  const std::shared_ptr<DeviceApi> api_;
  const std::shared_ptr<GraphApi> graphs_;  // the same object
  const Device device_;
  const bool has_collectives_;
  RecordedWork work_;
  std::vector<std::pair<const void*, std::unique_ptr<AroundLaunch>>> around_;  // the next graph
  std::vector<Memory> memory_;
  std::vector<std::function<void()>> afterwards_;
  bool is_capturing_ = false;
};

}  // namespace dist
