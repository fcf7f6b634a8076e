// What CudaDevice enqueues on streams: flags, by functions of the driver that are looked up at run time;
// copies; and kernels, each with the device made current and the stream resolved first.
#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include <cudaTypedefs.h>

#include "dist/core/device/cuda/check.h"
#include "dist/core/device/cuda/cuda_device.h"
#include "dist/core/device/cuda/kernels.h"

namespace dist {

using cuda_detail::driver;
using cuda_detail::ensure;
using cuda_detail::forget;
using cuda_detail::UseDevice;

namespace {

// The driver's functions on flags.
struct FlagCalls {
  PFN_cuStreamWriteValue64_v11070 write = driver<PFN_cuStreamWriteValue64_v11070>("cuStreamWriteValue64");
  PFN_cuStreamWaitValue64_v11070 wait = driver<PFN_cuStreamWaitValue64_v11070>("cuStreamWaitValue64");
  PFN_cuDeviceGetAttribute_v2000 attribute = driver<PFN_cuDeviceGetAttribute_v2000>("cuDeviceGetAttribute");
};

const FlagCalls& flag_calls() {
  static const FlagCalls calls;
  return calls;
}

// The driver numbers its errors differently, but those that matter here are the runtime's as well.
void check_driver(CUresult result, Device device, const char* call) {
  ensure(static_cast<cudaError_t>(result), device, "{}", call);
}

}  // namespace

void CudaDevice::load_kernels(Device device) {
  const UseDevice use(device);
  cuda_kernels::load_kernels(device);
}

bool CudaDevice::has_flags(Device device) {
  const FlagCalls& calls = flag_calls();
  if (!calls.write || !calls.wait || !calls.attribute) return false;
  int can_wait = 0, can_register = 0;
  calls.attribute(&can_wait, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device.index);
  forget(cudaDeviceGetAttribute(&can_register, cudaDevAttrHostRegisterSupported, device.index));
  return can_wait != 0 && can_register != 0;
}

// CUDA knows where registered pages begin; a flag is at the same distance from there on the device. This asks
// each time, because a call of the runtime must come before the driver's: on a new thread it is what makes
// the device's context current.
CUdeviceptr CudaDevice::address_of(Device device, StreamFlag* flag) {
  auto* const at = reinterpret_cast<std::byte*>(flag);
  std::byte* pages = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    const auto behind = host_pages_.upper_bound(at);
    if (behind == host_pages_.begin())
      fail(Errc::internal, "a flag is not in host memory that {} knows", device.str());
    pages = std::prev(behind)->first;
  }
  void* on_device = nullptr;
  ensure(cudaHostGetDevicePointer(&on_device, pages, 0), device, "cudaHostGetDevicePointer");
  return reinterpret_cast<CUdeviceptr>(on_device) + static_cast<CUdeviceptr>(at - pages);
}

void CudaDevice::write_flag(Device device, StreamHandle stream, StreamFlag* flag, std::uint64_t value) {
  const UseDevice use(device);
  check_driver(flag_calls().write(resolve(device, stream), address_of(device, flag), value,
                                  CU_STREAM_WRITE_VALUE_DEFAULT),
               device, "cuStreamWriteValue64");
}

void CudaDevice::wait_flag(Device device, StreamHandle stream, StreamFlag* flag, std::uint64_t value) {
  const UseDevice use(device);
  check_driver(
      flag_calls().wait(resolve(device, stream), address_of(device, flag), value, CU_STREAM_WAIT_VALUE_GEQ),
      device, "cuStreamWaitValue64");
}

void CudaDevice::notify(Device device, StreamHandle stream, std::function<void()> told) {
  const UseDevice use(device);
  auto owned = std::make_unique<std::function<void()>>(std::move(told));
  const cudaHostFn_t call = [](void* data) {
    const std::unique_ptr<std::function<void()>> once(static_cast<std::function<void()>*>(data));
    (*once)();
  };
  ensure(cudaLaunchHostFunc(resolve(device, stream), call, owned.get()), device, "cudaLaunchHostFunc");
  (void)owned.release();
}

void CudaDevice::copy(Device device, StreamHandle stream, void* to, const void* from, std::size_t bytes) {
  const UseDevice use(device);
  ensure(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, resolve(device, stream)), device,
         "cudaMemcpyAsync({} bytes)", bytes);
}

void CudaDevice::copy_rows(Device device, StreamHandle stream, void* to, const void* from,
                           const RowCopy& rows) {
  const UseDevice use(device);
  ensure(cudaMemcpy2DAsync(to, rows.to_pitch, from, rows.from_pitch, rows.bytes, rows.count,
                           cudaMemcpyDeviceToDevice, resolve(device, stream)),
         device, "cudaMemcpy2DAsync({} rows of {} bytes)", rows.count, rows.bytes);
}

void CudaDevice::fill(Device device, StreamHandle stream, TensorView view, double value) {
  const UseDevice use(device);
  cuda_kernels::fill(resolve(device, stream), view, value);
}

void CudaDevice::scale(Device device, StreamHandle stream, TensorView view, double factor) {
  const UseDevice use(device);
  cuda_kernels::scale(resolve(device, stream), view, factor);
}

void CudaDevice::divide(Device device, StreamHandle stream, TensorView view, std::int64_t divisor) {
  const UseDevice use(device);
  cuda_kernels::divide(resolve(device, stream), view, divisor);
}

void CudaDevice::reduce(Device device, StreamHandle stream, TensorView acc, TensorView in, ReduceOp op) {
  const std::array ins{acc, in};
  reduce_many(device, stream, {&acc, 1}, ins, op);
}

void CudaDevice::reduce_many(Device device, StreamHandle stream, std::span<const TensorView> outs,
                             std::span<const TensorView> ins, ReduceOp op) {
  const PartViews all{.outs = outs, .ins = ins};
  reduce_parts(device, stream, {&all, 1}, op);
}

namespace {

void check_sizes(std::span<const PartViews> parts) {
  using cuda_kernels::most_views;
  for (const PartViews& part : parts)
    if (part.ins.size() > most_views || part.outs.size() > most_views)
      fail(Errc::unsupported, "a kernel with {} inputs and {} outputs: it takes {} of each", part.ins.size(),
           part.outs.size(), most_views);
}

}  // namespace

// One copy is the driver's, which is a little faster than a kernel of ours.
void CudaDevice::copy_parts(Device device, StreamHandle stream, std::span<const PartViews> parts) {
  if (parts.empty()) return;
  check_sizes(parts);
  if (parts.size() == 1 && parts[0].outs.size() == 1) {
    if (const TensorView& in = parts[0].ins[0]; in.count > 0)
      copy(device, stream, parts[0].outs[0].data, in.data, in.bytes());
    return;
  }
  const UseDevice use(device);
  cuda_kernels::copy_parts(resolve(device, stream), parts);
}

void CudaDevice::reduce_parts(Device device, StreamHandle stream, std::span<const PartViews> parts,
                              ReduceOp op) {
  if (parts.empty()) return;
  check_sizes(parts);
  const UseDevice use(device);
  cuda_kernels::reduce_parts(resolve(device, stream), parts, op);
}

void CudaDevice::convert(Device device, StreamHandle stream, TensorView to, TensorView from) {
  const UseDevice use(device);
  cuda_kernels::convert(resolve(device, stream), to, from);
}

void CudaDevice::unary(Device device, StreamHandle stream, TensorView out, TensorView in, UnaryOp op) {
  const UseDevice use(device);
  cuda_kernels::unary(resolve(device, stream), out, in, op);
}

void CudaDevice::binary(Device device, StreamHandle stream, TensorView out, TensorView a, TensorView b,
                        BinaryOp op) {
  const UseDevice use(device);
  cuda_kernels::binary(resolve(device, stream), out, a, b, op);
}

void CudaDevice::add_scaled(Device device, StreamHandle stream, TensorView acc, TensorView in, double alpha) {
  const UseDevice use(device);
  cuda_kernels::add_scaled(resolve(device, stream), acc, in, alpha);
}

}  // namespace dist
