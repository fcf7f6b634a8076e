#include "support/fake_device.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "dist/core/cpu_kernels.h"
#include "dist/core/fail.h"

namespace dist::test {

namespace {
constexpr std::size_t page_bytes = 4096;
}

FakeDevice::FakeDevice(const FakeDeviceOptions& options) : options_(options) {
  for (int i = 0; i < options.count; ++i) {
    devices_.push_back(std::make_unique<PerDevice>(options.bytes));
    if (options.caches)
      devices_.back()->cache = std::make_unique<CachingAllocator>(
          *this, cuda(i),
          CachingAllocator::Source{.take = [this, i](std::size_t bytes) { return take(cuda(i), bytes); },
                                   .give_back = [this, i](void* base) { free_unused(cuda(i), base); }});
  }
}

// Streams end first, each after its work, because a stream may wait for another stream's mark.
FakeDevice::~FakeDevice() {
  hold_all(false);
  for (const auto& device : devices_)
    for (const auto& [handle, stream] : device->streams) stream->mark()->wait();
  for (const auto& device : devices_) device->cache.reset();
}

FakeDevice::PerDevice& FakeDevice::at(Device device) {
  if (device.type != DeviceType::cuda || device.index < 0 || device.index >= count())
    fail(Errc::invalid_argument, "the fake device has {} devices, {} is none of them", count(), device.str());
  return *devices_[static_cast<std::size_t>(device.index)];
}

FakeStream& FakeDevice::stream(Device device, StreamHandle handle) {
  const auto& streams = at(device).streams;
  const auto found = streams.find(resolve(device, handle));
  if (found == streams.end()) fail(Errc::internal, "{} is not a stream of {}", handle, device.str());
  return *found->second;
}

StreamHandle FakeDevice::resolve(Device device, StreamHandle handle) {
  if (handle) return handle;
  StreamHandle& own = at(device).defaults[std::this_thread::get_id()];
  if (!own) own = new_stream(device);
  return own;
}

StreamHandle FakeDevice::new_stream(Device device) {
  auto made = std::make_unique<FakeStream>(options_.longest_rest, options_.seed * 1000 + streams_made_++);
  made->hold(held_);
  StreamHandle handle = made.get();
  at(device).streams.emplace(handle, std::move(made));
  return handle;
}

// Freed blocks whose last use is over actually become free.
void FakeDevice::collect(PerDevice& device) {
  std::erase_if(device.leaving, [&](const auto& block) {
    for (const auto& mark : block.second)
      if (!mark->is_reached()) return false;
    device.memory.deallocate(block.first);
    return true;
  });
}

// The cache uses the device itself, so it is called without the lock.
void* FakeDevice::allocate(Device device, std::size_t bytes) {
  CachingAllocator* const cache = at(device).cache.get();
  if (!cache) return take(device, bytes);
  std::unique_lock lock(mutex_);
  StreamHandle stream = resolve(device, current_stream(device));
  lock.unlock();
  return cache->allocate(bytes, stream);
}

void FakeDevice::deallocate(Device device, void* pointer) noexcept {
  CachingAllocator* const cache = at(device).cache.get();
  if (!cache) return give_back(device, pointer);
  std::vector<StreamHandle> streams;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [handle, stream] : at(device).streams) streams.push_back(handle);
  }
  cache->deallocate(pointer, streams);
}

void* FakeDevice::take(Device device, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  collect(at(device));
  return at(device).memory.allocate(bytes);
}

void FakeDevice::give_back(Device device, void* pointer) noexcept {
  const std::scoped_lock lock(mutex_);
  Marks marks;
  for (const auto& each : devices_)
    for (const auto& [handle, stream] : each->streams) marks.push_back(stream->mark());
  at(device).leaving.emplace_back(pointer, std::move(marks));
  collect(at(device));
}

void FakeDevice::free_unused(Device device, void* pointer) {
  const std::scoped_lock lock(mutex_);
  at(device).memory.deallocate(pointer);
  foreign_.erase(pointer);
}

Allocation FakeDevice::allocation_of(Device device, const void* pointer) {
  if (CachingAllocator* const cache = at(device).cache.get()) return cache->allocation_of(pointer);
  const std::scoped_lock lock(mutex_);
  const Allocation block = at(device).memory.block_of(pointer);
  if (foreign_.contains(block.base)) fail(Errc::invalid_argument, "{} is foreign memory", pointer);
  return block;
}

void FakeDevice::make_foreign(const void* base) {
  const std::scoped_lock lock(mutex_);
  foreign_.insert(base);
}

std::vector<std::byte> FakeDevice::export_memory(Device device, const void* pointer) {
  if (CachingAllocator* const cache = at(device).cache.get()) cache->keep(pointer);
  const std::scoped_lock lock(mutex_);
  if (!options_.exports) fail(Errc::unsupported, "other processes cannot map this device's memory");
  const FakeHandle handle = at(device).memory.export_block(pointer);
  std::vector<std::byte> bytes(sizeof handle);
  std::memcpy(bytes.data(), &handle, sizeof handle);
  return bytes;
}

void* FakeDevice::import_memory(Device device, const std::vector<std::byte>& bytes) {
  FakeHandle handle;
  if (bytes.size() != sizeof handle)
    fail(Errc::invalid_argument, "a memory handle of {} bytes is not the fake device's", bytes.size());
  std::memcpy(&handle, bytes.data(), sizeof handle);
  const std::scoped_lock lock(mutex_);
  return at(device).memory.import_block(handle);
}

void FakeDevice::release_import(Device device, void* pointer) noexcept {
  const std::scoped_lock lock(mutex_);
  at(device).memory.release_import(pointer);
}

StreamHandle FakeDevice::make_stream(Device device) {
  const std::scoped_lock lock(mutex_);
  return new_stream(device);
}

// The thread ends outside the lock: its last work may need it no more, but others do meanwhile.
void FakeDevice::free_stream(Device device, StreamHandle handle) noexcept {
  std::unique_ptr<FakeStream> ending;
  const std::scoped_lock lock(mutex_);
  auto& streams = at(device).streams;
  const auto found = streams.find(handle);
  if (found == streams.end()) return;
  ending = std::move(found->second);
  streams.erase(found);
}

EventHandle FakeDevice::make_event(Device) {
  auto* event = new Event;
  const std::scoped_lock lock(mutex_);
  events_.insert(event);
  return event;
}

void FakeDevice::free_event(Device, EventHandle handle) noexcept {
  const std::scoped_lock lock(mutex_);
  if (events_.erase(handle) == 1) delete static_cast<Event*>(handle);
}

void FakeDevice::record(Device device, EventHandle handle, StreamHandle stream_handle) {
  const std::scoped_lock lock(mutex_);
  auto* event = static_cast<Event*>(handle);
  break_capture(device, stream_handle, "an event");
  const std::scoped_lock event_lock(event->mutex);
  event->last = stream(device, stream_handle).mark();
}

std::shared_ptr<FakeMark> FakeDevice::last_of(EventHandle handle) {
  auto* event = static_cast<Event*>(handle);
  const std::scoped_lock lock(event->mutex);
  return event->last;
}

void FakeDevice::stream_wait(Device device, StreamHandle handle, EventHandle event) {
  const auto mark = last_of(event);
  if (!mark) return;  // as in CUDA: nothing to wait for
  const std::scoped_lock lock(mutex_);
  break_capture(device, handle, "a wait for an event");
  stream(device, handle).enqueue([mark] { mark->wait(); });
}

bool FakeDevice::is_done(Device device, EventHandle event) {
  ++questions_;
  if (events_fail_) fail(Errc::internal, "{}: an illegal memory access was encountered", device.str());
  const auto mark = last_of(event);
  return !mark || mark->is_reached();
}

void FakeDevice::synchronize(Device device, StreamHandle handle) {
  std::unique_lock lock(mutex_);
  break_capture(device, handle, "a wait of the host");
  ++host_waits_;
  const auto mark = stream(device, handle).mark();
  lock.unlock();
  mark->wait();
}

void FakeDevice::synchronize_event(Device, EventHandle event) {
  ++host_waits_;
  if (const auto mark = last_of(event)) mark->wait();
}

void FakeDevice::notify(Device device, StreamHandle handle, std::function<void()> told) {
  const std::scoped_lock lock(mutex_);
  stream(device, handle).enqueue(std::move(told));
}

void FakeDevice::register_host(Device, void* pages, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(pages) % page_bytes != 0 || bytes % page_bytes != 0)
    fail(Errc::internal, "{} bytes at {} are not whole pages of host memory", bytes, pages);
  const std::scoped_lock lock(mutex_);
  HostPages& known = host_pages_[static_cast<const std::byte*>(pages)];
  known.bytes = std::max(known.bytes, bytes);
  ++known.times;
}

void FakeDevice::unregister_host(Device, void* pages) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = host_pages_.find(static_cast<const std::byte*>(pages));
  if (found != host_pages_.end() && --found->second.times == 0) host_pages_.erase(found);
}

bool FakeDevice::is_registered(const void* flag) const {
  const auto* const byte = static_cast<const std::byte*>(flag);
  const auto after = host_pages_.upper_bound(byte);
  return after != host_pages_.begin() && byte < std::prev(after)->first + std::prev(after)->second.bytes;
}

bool FakeDevice::is_registered_host(const void* pointer) {
  const std::scoped_lock lock(mutex_);
  return is_registered(pointer);
}

void FakeDevice::check_registered(const void* flag) {
  if (!options_.has_flags) fail(Errc::internal, "this device has no stream flags");
  if (!is_registered(flag)) fail(Errc::internal, "the flag at {} is in no registered host memory", flag);
}

void FakeDevice::write_flag(Device device, StreamHandle handle, StreamFlag* flag, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  check_registered(flag);
  break_capture(device, handle, "a flag");
  promised_[flag] = value;
  stream(device, handle).enqueue([this, flag, value] {
    note_use_of(flag);
    flag->store(value);
  });
}

void FakeDevice::wait_flag(Device device, StreamHandle handle, StreamFlag* flag, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  check_registered(flag);
  break_capture(device, handle, "a wait for a flag");
  if (!at(device).has_kernels) fail(Errc::internal, "a stream waits for a flag, and kernels are not loaded");
  if (!flag_has_reached(promised_[flag], value)) ++early_waits_;
  stream(device, handle).enqueue([this, flag, value] {
    note_use_of(flag);
    while (!flag_has_reached(flag->load(), value)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    note_use_of(flag);
  });
}

void FakeDevice::note_use_of(const void* flag) {
  const std::scoped_lock lock(mutex_);
  if (!is_registered(flag)) ++stray_flags_;
}

std::size_t FakeDevice::early_waits() {
  const std::scoped_lock lock(mutex_);
  return early_waits_;
}

void FakeDevice::fail_kernels(Device device, bool fail) {
  const std::scoped_lock lock(mutex_);
  at(device).fails = fail;
}

void FakeDevice::hold_all(bool held) {
  const std::scoped_lock lock(mutex_);
  held_ = held;
  for (const auto& device : devices_)
    for (const auto& [handle, stream] : device->streams) stream->hold(held);
}

void FakeDevice::hold(Device device, StreamHandle handle, bool held) {
  const std::scoped_lock lock(mutex_);
  stream(device, handle).hold(held);
}

std::size_t FakeDevice::backlog() {
  const std::scoped_lock lock(mutex_);
  std::size_t total = 0;
  for (const auto& device : devices_)
    for (const auto& [handle, stream] : device->streams) total += stream->backlog();
  return total;
}

std::size_t FakeDevice::in_use(Device device) {
  const std::scoped_lock lock(mutex_);
  collect(at(device));
  return at(device).memory.in_use();
}

std::size_t FakeDevice::host_pages_registered() {
  const std::scoped_lock lock(mutex_);
  return host_pages_.size();
}

std::size_t FakeDevice::handles_alive() {
  const std::scoped_lock lock(mutex_);
  std::size_t total = events_.size();
  for (const auto& device : devices_) total += device->streams.size() - device->defaults.size();
  return total;
}

}  // namespace dist::test
