// What is here: versions, limits, and what a second process on the GPU costs.
#include <cstdlib>
#include <cstring>

#include <sys/resource.h>
#include <sys/utsname.h>

#include "gpu.h"
#include "probes.h"

namespace probe {

bool find_gpu(std::string* why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess)
    *why = cudaGetErrorString(error);
  else if (count <= chosen_device)
    *why = text("%d devices, device %d asked for", count, chosen_device);
  else
    return true;
  return false;
}

void device_and_versions(const Report& report) {
  use_device();
  cudaDeviceProp properties{};
  TRY(cudaGetDeviceProperties(&properties, chosen_device));
  int driver_version = 0, runtime_version = 0, devices = 0;
  TRY(cudaDriverGetVersion(&driver_version));
  TRY(cudaRuntimeGetVersion(&runtime_version));
  TRY(cudaGetDeviceCount(&devices));
  report.note(text("%s, compute capability %d.%d, %d SMs, %.1f GiB, L2 %.1f MiB", properties.name,
                   properties.major, properties.minor, properties.multiProcessorCount,
                   properties.totalGlobalMem / 1073741824.0, properties.l2CacheSize / 1048576.0));
  report.note(text("driver supports CUDA %d.%d, runtime %d.%d, %d device(s)", driver_version / 1000,
                   driver_version % 1000 / 10, runtime_version / 1000, runtime_version % 1000 / 10, devices));
  nccl_version(report);
  utsname system{};
  uname(&system);
  const bool wsl = strstr(system.release, "icrosoft") != nullptr;
  const char* mps = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  report.note(text("kernel %s%s, MPS %s", system.release, wsl ? " (WSL: no legacy IPC)" : "",
                   mps != nullptr ? mps : "not asked for"));
  rlimit memlock{};
  getrlimit(RLIMIT_MEMLOCK, &memlock);
  report.value("compute mode", attribute(cudaDevAttrComputeMode), "(0 shared, 2 prohibited, 3 one process)");
  report.value("concurrent kernels", attribute(cudaDevAttrConcurrentKernels), "");
  report.value("copy engines", attribute(cudaDevAttrAsyncEngineCount), "");
  report.value("IPC events", attribute(cudaDevAttrIpcEventSupport), "");
  report.value("host register", attribute(cudaDevAttrHostRegisterSupported), "");
  report.value("host pointer usable on device", attribute(cudaDevAttrCanUseHostPointerForRegisteredMem), "");
  report.value("RLIMIT_MEMLOCK", memlock.rlim_cur == RLIM_INFINITY ? -1.0 : memlock.rlim_cur / 1048576.0,
               "MiB (-1: unlimited)");
  auto get = driver<PFN_cuDeviceGetAttribute_v2000>("cuDeviceGetAttribute");
  const auto ask = [&](const char* label, CUdevice_attribute which) {
    int value = -1;
    get(&value, which, chosen_device);
    report.value(label, value, "");
  };
  ask("64-bit stream memory operations", CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
  ask("VMM", CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  ask("VMM export as descriptor", CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
}

// Four ranks on one GPU are four contexts.
void context_cost(const Report& report) {
  run_ranks(2, [&](int rank, Team& team) {
    if (rank == 0) {
      const double start = now_us();
      use_device();
      report.value("first context made in", (now_us() - start) / 1e3, "ms");
    }
    std::size_t before = 0, after = 0, total = 0;
    if (rank == 0) TRY(cudaMemGetInfo(&before, &total));
    team.barrier();
    if (rank == 1) {
      const double start = now_us();
      use_device();
      report.value("second context made in", (now_us() - start) / 1e3, "ms");
    }
    team.barrier();
    if (rank == 0) {
      TRY(cudaMemGetInfo(&after, &total));
      report.value("device memory of a context",
                   (static_cast<double>(before) - static_cast<double>(after)) / 1048576.0, "MiB");
    }
    team.barrier();
  });
}

}  // namespace probe
