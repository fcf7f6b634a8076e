// DeviceApi on the CUDA runtime. Device memory comes from cudaMalloc, through a CachingAllocator for each
// GPU; peers map it by cudaIpc handles. Streams do not wait for the legacy default stream, and each thread
// has a default stream of its own: ranks that are threads must not wait for each other by accident.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include "dist/core/device/caching_allocator.h"
#include "dist/core/device/graph_api.h"

namespace dist {

// One per process, and never destroyed: the driver may be gone when static storage is destroyed.
class CudaDevice final : public DeviceApi, public GraphApi {
 public:
  explicit CudaDevice(int count);

  int count() const override { return static_cast<int>(devices_.size()); }
  std::string bus_id(Device device) override;
  void* allocate(Device device, std::size_t bytes) override;
  void deallocate(Device device, void* pointer) noexcept override;
  Allocation allocation_of(Device device, const void* pointer) override;
  bool reaches(Device from, Device to) override;
  std::vector<std::byte> export_memory(Device device, const void* base) override;
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
  void load_kernels(Device device) override;
  bool has_flags(Device device) override;
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

  void begin_capture(Device device, StreamHandle stream) override;
  void fork_capture(Device device, StreamHandle stream, StreamHandle side) override;
  void join_capture(Device device, StreamHandle stream, StreamHandle side) override;
  GraphHandle end_capture(Device device, StreamHandle stream) override;
  void launch_graph(Device device, StreamHandle stream, GraphHandle graph) override;
  void free_graph(Device device, GraphHandle graph) noexcept override;

  // The stream that a handle stands for; null stands for this thread's own.
  cudaStream_t resolve(Device device, StreamHandle stream);

 private:
  struct PerDevice {
    std::unique_ptr<CachingAllocator> memory;
    std::set<StreamHandle> streams;   // they may use memory that is being freed; never destroyed
    std::vector<StreamHandle> spare;  // freed ones, perhaps with work left; reused when idle
    std::set<StreamHandle> captured;  // whose work is being recorded: no events of theirs
    std::map<StreamHandle, std::set<StreamHandle>> sides;  // of captured streams; captured, too
  };
  class ThreadStreams;

  PerDevice& at(Device device);
  StreamHandle new_stream(Device device);
  StreamHandle take_spare(PerDevice& of);
  CUdeviceptr address_of(Device device, StreamFlag* flag);

  std::shared_mutex capturing_;  // shared: events are recorded on all streams; exclusive: captures change
  std::mutex registering_;       // held for as long as CUDA takes to register
  std::mutex mutex_;             // guards what changes: streams and pages
  std::vector<PerDevice> devices_;
  std::map<std::byte*, int> host_pages_;  // how often each is registered
};

}  // namespace dist
