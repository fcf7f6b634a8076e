#include "dist/nn/cuda/handles.h"

#include <memory>

#include "dist/core/device.h"
#include "dist/core/device/cuda/cuda_device.h"
#include "dist/core/device/recording.h"
#include "dist/nn/cuda/per_thread.h"

namespace dist::nn {

namespace {

cudaStream_t stream_on(Device device) {
  auto* const gpus = dynamic_cast<CudaDevice*>(&device_api(device.type));
  if (!gpus) fail(Errc::unsupported, "layers on {}: they need a CUDA GPU", device.str());
  return gpus->resolve(device, current_stream(device));
}

// A handle has memory of its own on the device, so what it does on one stream must come after what it did on
// another.
void move_to(Device device, StreamHandle stream, StreamHandle& last) {
  if (last && last != stream) {
    Event before(device);
    before.record(last);
    before.make_wait(device, stream);
  }
  last = stream;
}

}  // namespace

OnGpu::OnGpu(Device device) : device_(device), use_(device_), stream_(stream_on(device_)) {}

OnGpu::OnGpu(const Tensor& tensor) : OnGpu(tensor.device()) {
  if (tensor.dtype() != DType::f32 && tensor.dtype() != DType::bf16)
    fail(Errc::unsupported, "layers on {} compute in f32 or bf16, this is {}; convert with .to(DType::f32)",
         device_.str(), name(tensor.dtype()));
}

cublasHandle_t OnGpu::cublas() const {
  auto& [handle, last] = PerThread<cublasHandle_t>::of(device_);
  move_to(device_, stream_, last);
  if (!handle) check(cublas_library().create(&handle), "cublasCreate");
  check(cublas_library().set_stream(handle, stream_), "cublasSetStream");
  return handle;
}

Cudnn& OnGpu::cudnn() const {
  auto& [cudnn, last] = PerThread<Cudnn*>::of(device_);
  move_to(device_, stream_, last);
  if (!cudnn) {
    auto made = std::make_unique<Cudnn>();
    check(cudnnCreate(&made->handle), "cudnnCreate");
    cudnn = made.release();
  }
  check(cudnnSetStream(cudnn->handle, stream_), "cudnnSetStream");
  return *cudnn;
}

void* Cudnn::workspace(std::size_t bytes, Device device) {
  if (!workspace_.is_defined() || workspace_.nbytes() < bytes)
    workspace_ = empty({static_cast<std::int64_t>(bytes)}, DType::u8, device);
  if (Recording* const now = Recording::current()) now->keep(std::make_shared<Tensor>(workspace_));
  return workspace_.raw();
}

void OnGpu::check(cudaError_t status, std::string_view call) const {
  cuda_detail::ensure(status, device_, "{}", call);
}

void OnGpu::check(cublasStatus_t status, std::string_view call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? Errc::resource : Errc::internal, "{} on {}: {}", call,
       device_.str(), cublas_library().status_string(status));
}

void OnGpu::check(cudnnStatus_t status, std::string_view call) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  fail(status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ? Errc::resource : Errc::internal,
       "{} on {}: {}", call, device_.str(), cudnnGetErrorString(status));
}

}  // namespace dist::nn
