// The table of device types (one DeviceApi per type, bound to the process that made it), the current stream
// of each thread, and the wrappers Stream and Event.
#include "dist/core/device.h"

#include <array>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "dist/core/device/cuda/make.h"
#include "dist/core/fail.h"

namespace dist {

namespace {

constexpr std::size_t device_types = 2;

struct Registered {
  std::shared_ptr<DeviceApi> api;
  pid_t process = 0;  // the process it works in
};

struct Registry {
  std::mutex mutex;
  std::array<Registered, device_types> apis;
};

Registry& registry() {
  static auto* instance = new Registry;  // outlives tensors in static storage
  return *instance;
}

std::size_t slot(DeviceType type) { return static_cast<std::size_t>(type); }

// The current streams of this thread: by type, then by device index.
StreamHandle& stream_slot(Device device) {
  thread_local std::array<std::vector<StreamHandle>, device_types> streams;
  auto& of_type = streams[slot(device.type)];
  const auto index = static_cast<std::size_t>(device.index);
  if (index >= of_type.size()) of_type.resize(index + 1, nullptr);
  return of_type[index];
}

}  // namespace

std::uint64_t next_allocation_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

DeviceApi& device_api(DeviceType type) {
  if (type == DeviceType::cpu) fail(Errc::internal, "the CPU has no device api; its kernels run directly");
  auto& all = registry();
  const std::scoped_lock lock(all.mutex);
  auto& [api, process] = all.apis[slot(type)];
  if (!api) {
    api = make_cuda_device_api();
    process = ::getpid();
  }
  if (process != ::getpid())
    fail(Errc::unsupported,
         "no GPU can be used in a process that was forked from one that had asked for a GPU; start the ranks "
         "before that, or with distrun, or keep tensors on the cpu");
  return *api;
}

void set_device_api(DeviceType type, std::shared_ptr<DeviceApi> api) {
  auto& all = registry();
  Registered by{std::move(api), ::getpid()};
  const std::scoped_lock lock(all.mutex);
  std::swap(all.apis[slot(type)], by);
}

StreamHandle current_stream(Device device) {
  return device.type == DeviceType::cpu ? nullptr : stream_slot(device);
}

Stream::Stream(Device device)
    : api_(device_api(device.type).shared_from_this()), device_(device), handle_(api_->make_stream(device)) {}
Stream::Stream(Stream&& other) noexcept
    : api_(std::move(other.api_)), device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}
Stream::~Stream() {
  if (api_) api_->free_stream(device_, handle_);
}
void Stream::synchronize() const { api_->synchronize(device_, handle_); }

Event::Event(Device device)
    : api_(device_api(device.type).shared_from_this()), device_(device), handle_(api_->make_event(device)) {}
Event::Event(Event&& other) noexcept
    : api_(std::move(other.api_)), device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}
Event::~Event() {
  if (api_) api_->free_event(device_, handle_);
}
void Event::record(StreamHandle stream) { api_->record(device_, handle_, stream); }
void Event::make_wait(Device device, StreamHandle stream) const {
  api_->stream_wait(device, stream, handle_);
}
bool Event::is_done() const { return api_->is_done(device_, handle_); }
void Event::synchronize() const { api_->synchronize_event(device_, handle_); }

StreamGuard::StreamGuard(Device device, StreamHandle stream)
    : device_(device), before_(std::exchange(stream_slot(device), stream)) {}

StreamGuard::~StreamGuard() { stream_slot(device_) = before_; }

}  // namespace dist
