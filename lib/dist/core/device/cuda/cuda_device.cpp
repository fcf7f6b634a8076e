// CudaDevice: the devices and their memory, exports to other processes, streams and events, registered host
// pages. What it enqueues on streams is in cuda_work.cpp.
#include "dist/core/device/cuda/cuda_device.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "dist/core/device/cuda/check.h"
#include "dist/core/device/cuda/make.h"

namespace dist {

using cuda_detail::ensure;
using cuda_detail::event_of;
using cuda_detail::forget;
using cuda_detail::stream_of;
using cuda_detail::UseDevice;

std::shared_ptr<DeviceApi> make_cuda_device_api() {
  // This must happen before CUDA starts. Streams that share a connection wait for each other's waits, and
  // CUDA does not see the waits that are for flags.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  forget(error);
  if (error != cudaSuccess || count == 0)
    fail(Errc::unsupported,
         "no cuda device can be used here ({}); check nvidia-smi and CUDA_VISIBLE_DEVICES, or keep "
         "tensors on "
         "the cpu",
         error == cudaSuccess ? "there is none" : cudaGetErrorString(error));
  static auto* const api = new std::shared_ptr<DeviceApi>(std::make_shared<CudaDevice>(count));
  return *api;
}

CudaDevice::CudaDevice(int count) : devices_(static_cast<std::size_t>(count)) {
  for (int i = 0; i < count; ++i) {
    const Device device = cuda(i);
    devices_[static_cast<std::size_t>(i)].memory = std::make_unique<CachingAllocator>(
        *this, device,
        CachingAllocator::Source{.take =
                                     [device](std::size_t bytes) {
                                       const UseDevice use(device);
                                       void* base = nullptr;
                                       ensure(cudaMalloc(&base, bytes), device, "cudaMalloc({})", bytes);
                                       return base;
                                     },
                                 .give_back =
                                     [device](void* base) {
                                       const UseDevice use(device);
                                       ensure(cudaFree(base), device, "cudaFree");
                                     }});
  }
}

CudaDevice::PerDevice& CudaDevice::at(Device device) {
  if (device.type != DeviceType::cuda || device.index < 0 || device.index >= count())
    fail(Errc::invalid_argument, "{} does not exist; this machine has {} such devices", device.str(),
         count());
  return devices_[static_cast<std::size_t>(device.index)];
}

std::string CudaDevice::bus_id(Device device) {
  std::array<char, 32> id{};
  ensure(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device.index), device,
         "cudaDeviceGetPCIBusId");
  return id.data();
}

// While this thread records, CUDA refuses it calls that would break a capture other than its own; there are
// none of that kind here.
void* CudaDevice::allocate(Device device, std::size_t bytes) {
  const cuda_detail::RelaxedCapture relaxed;
  return at(device).memory->allocate(bytes, resolve(device, current_stream(device)));
}

void CudaDevice::deallocate(Device device, void* pointer) noexcept {
  const UseDevice use(device, std::nothrow);
  const std::shared_lock no_capture_begins(capturing_);
  std::vector<StreamHandle> streams;
  {
    const std::scoped_lock lock(mutex_);
    std::ranges::set_difference(at(device).streams, at(device).captured, std::back_inserter(streams));
  }
  at(device).memory->deallocate(pointer, streams);
}

Allocation CudaDevice::allocation_of(Device device, const void* pointer) {
  return at(device).memory->allocation_of(pointer);
}

bool CudaDevice::reaches(Device from, Device to) {
  if (from == to) return true;
  int can = 0;
  ensure(cudaDeviceCanAccessPeer(&can, from.index, to.index), from, "cudaDeviceCanAccessPeer({})", to.str());
  if (can == 0) return false;
  const UseDevice use(from);
  const cudaError_t enabled = cudaDeviceEnablePeerAccess(to.index, 0);
  if (enabled == cudaErrorPeerAccessAlreadyEnabled)
    forget(enabled);  // as it should be
  else
    ensure(enabled, from, "cudaDeviceEnablePeerAccess({})", to.str());
  return true;
}

std::vector<std::byte> CudaDevice::export_memory(Device device, const void* base) {
  const UseDevice use(device);
  cudaIpcMemHandle_t handle;
  ensure(cudaIpcGetMemHandle(&handle, const_cast<void*>(base)), device, "cudaIpcGetMemHandle");
  at(device).memory->keep(base);
  std::vector<std::byte> bytes(sizeof handle);
  std::memcpy(bytes.data(), &handle, sizeof handle);
  return bytes;
}

void* CudaDevice::import_memory(Device device, const std::vector<std::byte>& bytes) {
  cudaIpcMemHandle_t handle;
  if (bytes.size() != sizeof handle)
    fail(Errc::invalid_argument, "a memory handle of {} bytes is not a cudaIpc handle", bytes.size());
  std::memcpy(&handle, bytes.data(), sizeof handle);
  const UseDevice use(device);
  void* mapped = nullptr;
  ensure(cudaIpcOpenMemHandle(&mapped, handle, cudaIpcMemLazyEnablePeerAccess), device,
         "cudaIpcOpenMemHandle");
  return mapped;
}

void CudaDevice::release_import(Device device, void* pointer) noexcept {
  const UseDevice use(device, std::nothrow);
  forget(cudaIpcCloseMemHandle(pointer));
}

// The default streams of one thread, by device; they end with the thread.
class CudaDevice::ThreadStreams {
 public:
  ~ThreadStreams() {
    for (const auto& [index, stream] : made_) api_->free_stream(cuda(index), stream);
  }
  StreamHandle of(CudaDevice& api, Device device) {
    api_ = &api;
    auto& stream = made_[device.index];
    if (!stream) stream = api.new_stream(device);
    return stream;
  }

 private:
  CudaDevice* api_ = nullptr;
  std::map<int, StreamHandle> made_;
};

cudaStream_t CudaDevice::resolve(Device device, StreamHandle stream) {
  thread_local ThreadStreams own;
  return stream_of(stream ? stream : own.of(*this, device));
}

StreamHandle CudaDevice::new_stream(Device device) {
  PerDevice& of = at(device);
  const UseDevice use(device);
  if (StreamHandle spare = take_spare(of)) return spare;
  cudaStream_t stream = nullptr;
  ensure(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), device, "cudaStreamCreateWithFlags");
  const std::scoped_lock lock(mutex_);
  of.streams.insert(stream);
  return stream;
}

// A spare stream whose work is done; null if there is none.
StreamHandle CudaDevice::take_spare(PerDevice& of) {
  const std::scoped_lock lock(mutex_);
  const auto idle = std::ranges::find_if(of.spare, [](StreamHandle spare) {
    const cudaError_t state = cudaStreamQuery(stream_of(spare));
    forget(state);
    return state == cudaSuccess;
  });
  if (idle == of.spare.end()) return nullptr;
  StreamHandle stream = *idle;
  of.spare.erase(idle);
  return stream;
}

StreamHandle CudaDevice::make_stream(Device device) { return new_stream(device); }

void CudaDevice::free_stream(Device device, StreamHandle stream) noexcept {
  const std::scoped_lock lock(mutex_);
  at(device).spare.push_back(stream);
}

EventHandle CudaDevice::make_event(Device device) {
  const UseDevice use(device);
  cudaEvent_t event = nullptr;
  ensure(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), device, "cudaEventCreateWithFlags");
  return event;
}

void CudaDevice::free_event(Device device, EventHandle event) noexcept {
  const UseDevice use(device, std::nothrow);
  forget(cudaEventDestroy(event_of(event)));
}

void CudaDevice::record(Device device, EventHandle event, StreamHandle stream) {
  const UseDevice use(device);
  ensure(cudaEventRecord(event_of(event), resolve(device, stream)), device, "cudaEventRecord");
}

void CudaDevice::stream_wait(Device device, StreamHandle stream, EventHandle event) {
  const UseDevice use(device);
  ensure(cudaStreamWaitEvent(resolve(device, stream), event_of(event), 0), device, "cudaStreamWaitEvent");
}

bool CudaDevice::is_done(Device device, EventHandle event) {
  const UseDevice use(device);
  const cudaError_t state = cudaEventQuery(event_of(event));
  if (state == cudaErrorNotReady) {
    forget(state);
    return false;
  }
  ensure(state, device, "cudaEventQuery");
  return true;
}

void CudaDevice::synchronize(Device device, StreamHandle stream) {
  const UseDevice use(device);
  ensure(cudaStreamSynchronize(resolve(device, stream)), device, "cudaStreamSynchronize");
}

void CudaDevice::synchronize_event(Device device, EventHandle event) {
  const UseDevice use(device);
  ensure(cudaEventSynchronize(event_of(event)), device, "cudaEventSynchronize");
}

void CudaDevice::register_host(Device device, void* pages, std::size_t bytes) {
  const UseDevice use(device);
  const std::scoped_lock one_by_one(registering_);
  auto* const at = static_cast<std::byte*>(pages);
  const auto is_known = [&] {
    const std::scoped_lock lock(mutex_);
    return host_pages_.contains(at);
  };
  if (!is_known())
    ensure(cudaHostRegister(pages, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped), device,
           "cudaHostRegister({})", bytes);
  const std::scoped_lock lock(mutex_);
  ++host_pages_[at];
}

void CudaDevice::unregister_host(Device device, void* pages) noexcept {
  const UseDevice use(device, std::nothrow);
  const std::scoped_lock one_by_one(registering_);
  {
    const std::scoped_lock lock(mutex_);
    const auto found = host_pages_.find(static_cast<std::byte*>(pages));
    if (found == host_pages_.end() || --found->second > 0) return;
    host_pages_.erase(found);
  }
  forget(cudaHostUnregister(pages));
}

}  // namespace dist
