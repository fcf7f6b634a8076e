// A fake GPU: DeviceApi on the CPU, truly asynchronous. Every stream is a thread, so a wait that is missing
// shows as wrong data; device addresses cannot be touched by the CPU; a kernel that reaches outside an
// allocated block is an Error; new and freed memory holds garbage.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dist/core/device.h"

#include "support/fake_memory.h"
#include "support/fake_stream.h"

namespace dist::test {

struct FakeDeviceOptions {
  int count = 1;
  std::size_t bytes = std::size_t{256} << 20;  // of memory, each
  std::chrono::microseconds longest_rest{0};   // before each kernel and copy: another schedule each time
  std::uint64_t seed = 1;
};

// Thread-safe.
class FakeDevice final : public DeviceApi {
 public:
  explicit FakeDevice(const FakeDeviceOptions& options = {});
  ~FakeDevice() override;

  int count() const override { return static_cast<int>(devices_.size()); }
  void* allocate(Device device, std::size_t bytes) override;
  void deallocate(Device device, void* pointer) noexcept override;
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

  void copy(Device device, StreamHandle stream, void* to, const void* from, std::size_t bytes) override;
  void fill(Device device, StreamHandle stream, TensorView view, double value) override;
  void scale(Device device, StreamHandle stream, TensorView view, double factor) override;
  void divide(Device device, StreamHandle stream, TensorView view, std::int64_t divisor) override;
  void reduce(Device device, StreamHandle stream, TensorView acc, TensorView in, ReduceOp op) override;
  void convert(Device device, StreamHandle stream, TensorView to, TensorView from) override;
  void unary(Device device, StreamHandle stream, TensorView out, TensorView in, UnaryOp op) override;
  void binary(Device device, StreamHandle stream, TensorView out, TensorView a, TensorView b,
              BinaryOp op) override;
  void add_scaled(Device device, StreamHandle stream, TensorView acc, TensorView in, double alpha) override;

  // For tests.
  void hold_all(bool held);  // streams made later are held too
  void hold(Device device, StreamHandle stream, bool held);
  std::size_t backlog();              // pieces of work not finished, on all streams
  std::size_t in_use(Device device);  // bytes allocated and not yet freed
  std::size_t handles_alive();        // streams and events that nobody has freed

 private:
  using Marks = std::vector<std::shared_ptr<FakeMark>>;
  struct Event {
    std::mutex mutex;
    std::shared_ptr<FakeMark> last;  // null: never recorded
  };
  struct PerDevice {
    explicit PerDevice(std::size_t bytes) : memory(bytes) {}
    FakeMemory memory;
    std::unordered_map<StreamHandle, std::unique_ptr<FakeStream>> streams;  // null: the default stream
    std::vector<std::pair<void*, Marks>> leaving;  // freed, when these marks are reached
  };
  // All of these with mutex_ held.
  PerDevice& at(Device device);
  FakeStream& stream(Device device, StreamHandle handle);
  std::unique_ptr<FakeStream> new_stream();
  void collect(PerDevice& device);
  std::byte* locate(const void* pointer, std::size_t bytes);
  TensorView locate(Device device, const TensorView& view);

  static std::shared_ptr<FakeMark> last_of(EventHandle event);
  void launch(Device device, StreamHandle stream, std::function<void()> work);

  const FakeDeviceOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PerDevice>> devices_;
  std::set<EventHandle> events_;
  std::uint64_t streams_made_ = 0;
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
