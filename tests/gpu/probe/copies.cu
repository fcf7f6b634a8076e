// How fast does memory move?
#include <cstdlib>

#include "kernels.cuh"
#include "probes.h"

namespace probe {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

__global__ void vector_copy(uint4* to, const uint4* from, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    to[i] = from[i];
  }
}

// Microseconds of one run of `enqueue`, by the GPU's clock, the mean of 10 after 2 warm-ups.
double time_on_gpu(const std::function<void(cudaStream_t)>& enqueue) {
  constexpr int repeats = 10;
  Stream stream;
  Event start, end;
  for (int i = 0; i < 2; ++i) enqueue(stream);
  TRY(cudaEventRecord(start, stream));
  for (int i = 0; i < repeats; ++i) enqueue(stream);
  TRY(cudaEventRecord(end, stream));
  stream.synchronize();
  float ms = 0;
  TRY(cudaEventElapsedTime(&ms, start, end));
  return ms * 1e3 / repeats;
}

double gb_per_s(std::size_t bytes, double us) { return static_cast<double>(bytes) / us / 1e3; }

}  // namespace

void device_copies(const Report& report) {
  use_device();
  const int blocks = 8 * attribute(cudaDevAttrMultiProcessorCount);
  for (const std::size_t bytes : {64 * mib, 256 * mib}) {
    Buffer from(bytes), to(bytes);
    write_pattern(from.data(), bytes, 5);
    const double memcpy_us = time_on_gpu([&](cudaStream_t stream) {
      TRY(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
    });
    TRY(cudaMemset(to.data(), 0, bytes));
    const double kernel_us = time_on_gpu([&](cudaStream_t stream) {
      vector_copy<<<blocks, 512, 0, stream>>>(static_cast<uint4*>(to.data()),
                                              static_cast<const uint4*>(from.data()), bytes / sizeof(uint4));
      TRY(cudaGetLastError());
    });
    expect_pattern(to.data(), bytes, 5);
    report.value(text("cudaMemcpyAsync, %zu MiB", bytes / mib), gb_per_s(2 * bytes, memcpy_us),
                 "GB/s (read + write)");
    report.value(text("16-byte kernel, %zu MiB", bytes / mib), gb_per_s(2 * bytes, kernel_us),
                 "GB/s (read + write)");
  }
}

void host_copies(const Report& report) {
  use_device();
  const std::size_t bytes = 64 * mib;
  Buffer device(bytes);
  const auto measure = [&](const char* kind, void* host) {
    memset(host, 1, bytes);
    const double up = time_on_gpu([&](cudaStream_t stream) {
      TRY(cudaMemcpyAsync(device.data(), host, bytes, cudaMemcpyHostToDevice, stream));
    });
    const double down = time_on_gpu([&](cudaStream_t stream) {
      TRY(cudaMemcpyAsync(host, device.data(), bytes, cudaMemcpyDeviceToHost, stream));
    });
    report.value(text("%s to device", kind), gb_per_s(bytes, up), "GB/s");
    report.value(text("device to %s", kind), gb_per_s(bytes, down), "GB/s");
  };
  void* pinned = nullptr;
  TRY(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault));
  measure("pinned", pinned);
  cudaFreeHost(pinned);
  void* plain = std::malloc(bytes);
  measure("pageable", plain);
  std::free(plain);
  SharedFile file(bytes);
  RegisteredMemory registered(file);
  measure("registered memfd", registered.host());
}

}  // namespace probe
