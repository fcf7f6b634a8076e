// Can two processes on one GPU reach each other's memory?
#include <signal.h>
#include <unistd.h>

#include "kernels.cuh"
#include "probes.h"

namespace probe {
namespace {

constexpr std::size_t bytes = std::size_t{64} << 20;
constexpr std::uint32_t first_seed = 1, second_seed = 77;

}  // namespace

void ipc_mapping(const Report& report) {
  run_ranks(2, [&](int rank, Team& team) {
    use_device();
    auto* handle = static_cast<cudaIpcMemHandle_t*>(team.room(0));
    if (rank == 0) {
      Buffer buffer(bytes);
      write_pattern(buffer.data(), bytes, first_seed);
      TRY(cudaIpcGetMemHandle(handle, buffer.data()));
      team.barrier();  // exported
      team.barrier();  // read and overwritten by rank 1
      expect_pattern(buffer.data(), bytes, second_seed);
      team.barrier();
    } else {
      team.barrier();
      void* mapped = nullptr;
      const double start = now_us();
      TRY(cudaIpcOpenMemHandle(&mapped, *handle, cudaIpcMemLazyEnablePeerAccess));
      report.value("open a handle", now_us() - start, "us");
      expect_pattern(mapped, bytes, first_seed);
      write_pattern(mapped, bytes, second_seed);
      Buffer local(bytes);
      TRY(cudaMemcpy(local.data(), mapped, bytes, cudaMemcpyDeviceToDevice));  // warm
      TRY(cudaDeviceSynchronize());
      const double copy_start = now_us();
      TRY(cudaMemcpy(local.data(), mapped, bytes, cudaMemcpyDeviceToDevice));
      TRY(cudaDeviceSynchronize());
      report.value("copy out of mapped memory", 2.0 * bytes / (now_us() - copy_start) / 1e3,
                   "GB/s (read + write)");
      team.barrier();
      TRY(cudaIpcCloseMemHandle(mapped));
      team.barrier();
    }
  });
}

// A survivor's kernel may still work on the memory of a rank that has died: does that stay mapped?
void killed_exporter(const Report& report) {
  const auto dies = [](int rank) { return rank == 0; };
  run_ranks(
      2,
      [&](int rank, Team& team) {
        use_device();
        auto* handle = static_cast<cudaIpcMemHandle_t*>(team.room(0));
        if (dies(rank)) {
          Buffer buffer(bytes);
          write_pattern(buffer.data(), bytes, first_seed);
          TRY(cudaIpcGetMemHandle(handle, buffer.data()));
          team.barrier();  // exported
          team.barrier();  // mapped
          raise(SIGKILL);
        }
        team.barrier();
        void* mapped = nullptr;
        TRY(cudaIpcOpenMemHandle(&mapped, *handle, cudaIpcMemLazyEnablePeerAccess));
        expect_pattern(mapped, bytes, first_seed);
        team.barrier();
        usleep(500000);
        expect_pattern(mapped, bytes, first_seed);
        write_pattern(mapped, bytes, second_seed);
        expect_pattern(mapped, bytes, second_seed);
        report.value("of a dead process's memory still readable and writable", bytes / 1048576.0, "MiB");
        TRY(cudaIpcCloseMemHandle(mapped));
      },
      dies);
}

namespace {

CUmemAllocationProp exportable_memory() {
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  what.location.id = chosen_device;
  return what;
}

// Maps `handle` at a fresh address, readable and writable.
void* map_vmm(CUmemGenericAllocationHandle handle, std::size_t size) {
  CUdeviceptr address = 0;
  TRY(driver<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve")(&address, size, 0, 0, 0));
  TRY(driver<PFN_cuMemMap_v10020>("cuMemMap")(address, size, 0, handle, 0));
  CUmemAccessDesc access{};
  access.location = exportable_memory().location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  TRY(driver<PFN_cuMemSetAccess_v10020>("cuMemSetAccess")(address, size, &access, 1));
  return reinterpret_cast<void*>(address);
}

}  // namespace

void vmm_mapping(const Report& report) {
  run_ranks(2, [&](int rank, Team& team) {
    use_device();
    if (rank == 0) {
      const CUmemAllocationProp what = exportable_memory();
      std::size_t unit = 0;
      TRY(driver<PFN_cuMemGetAllocationGranularity_v10020>("cuMemGetAllocationGranularity")(
          &unit, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
      report.value("granularity", static_cast<double>(unit) / 1024, "KiB");
      CUmemGenericAllocationHandle handle{};
      TRY(driver<PFN_cuMemCreate_v10020>("cuMemCreate")(&handle, bytes, &what, 0));
      void* mine = map_vmm(handle, bytes);
      write_pattern(mine, bytes, first_seed);
      int fd = -1;
      TRY(driver<PFN_cuMemExportToShareableHandle_v10020>("cuMemExportToShareableHandle")(
          &fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
      team.send_fd(fd);
      close(fd);
      team.barrier();  // sent
      team.barrier();  // read and overwritten
      expect_pattern(mine, bytes, second_seed);
    } else {
      team.barrier();
      const int fd = team.receive_fd();
      CUmemGenericAllocationHandle handle{};
      const double start = now_us();
      TRY(driver<PFN_cuMemImportFromShareableHandle_v10020>("cuMemImportFromShareableHandle")(
          &handle, reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)),
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
      void* theirs = map_vmm(handle, bytes);
      report.value("import and map", now_us() - start, "us");
      close(fd);
      expect_pattern(theirs, bytes, first_seed);
      write_pattern(theirs, bytes, second_seed);
      team.barrier();
    }
  });
}

// The CPU arena is a memfd: may both processes register it, and do their GPUs' views agree?
void registered_memfd(const Report& report) {
  SharedFile file(bytes);
  run_ranks(2, [&](int rank, Team& team) {
    use_device();
    RegisteredMemory memory(file);
    report.value(text("register %zu MiB, rank %d", bytes >> 20, rank), memory.register_us() / 1e3, "ms");
    if (rank == 0) write_pattern(memory.device(), bytes, first_seed);
    team.barrier();
    if (rank == 1) expect_pattern(memory.device(), bytes, first_seed);
    if (rank == 1) write_pattern(memory.device(), bytes, second_seed);
    team.barrier();
    if (rank == 0) {
      const auto* words = static_cast<const std::uint32_t*>(memory.host());
      for (std::size_t i = 0; i < bytes / 4; ++i) {
        if (words[i] != static_cast<std::uint32_t>(i) * 2654435761u + second_seed) {
          throw Refused(text("the host reads a wrong word at %zu", i));
        }
      }
    }
    team.barrier();
  });
}

}  // namespace probe
