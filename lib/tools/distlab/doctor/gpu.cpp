// These checks ask the driver directly (libcuda.so.1), so that they work in builds without CUDA, too.
#include <array>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "dist/backend/auto_choice.h"
#include "dist/backend/backend.h"
#include "dist/core/counted.h"
#include "dist/core/device.h"

#include "distlab/build_info.h"
#include "distlab/doctor/doctor.h"

namespace distlab {
namespace {

constexpr auto no_gpu_cost =
    "every lab runs on the CPU; GPU figures and the backends nccl and cuda are not available";

// The driver calls that describe the GPUs. Their signatures are those of the CUDA driver API.
struct Driver {
  void* library = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*memory)(std::size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;

  template <class F>
  bool load(F& function, const char* symbol) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
    return function != nullptr;
  }
  bool load_all() {
    library = dlopen("libcuda.so.1",
                     RTLD_NOW | RTLD_LOCAL);  // stays loaded, because the driver cannot be unloaded safely
    return library && load(init, "cuInit") && load(version, "cuDriverGetVersion") &&
           load(count, "cuDeviceGetCount") && load(name, "cuDeviceGetName") &&
           load(memory, "cuDeviceTotalMem_v2") && load(attribute, "cuDeviceGetAttribute");
  }
};

Finding describe_gpu(const Driver& driver, int device) {
  constexpr int major_attribute = 75, minor_attribute = 76;
  std::array<char, 128> name{};
  std::size_t bytes = 0;
  int major = 0, minor = 0;
  driver.name(name.data(), static_cast<int>(name.size()), device);
  driver.memory(&bytes, device);
  driver.attribute(&major, major_attribute, device);
  driver.attribute(&minor, minor_attribute, device);
  const double gigabytes = static_cast<double>(bytes) / (1 << 30);
  return {fmt::format("GPU {}", device), Health::good,
          fmt::format("{}, {:.0f} GiB, sm_{}{}", name.data(), gigabytes, major, minor), ""};
}

void add_gpus(std::vector<Finding>& findings) {
  Driver driver;
  if (!driver.load_all()) {
    findings.push_back({"NVIDIA driver", Health::absent, "not found (no libcuda.so.1)", no_gpu_cost});
    return;
  }
  int gpus = 0, version = 0;
  const int status = driver.init(0);
  if (status == 0) driver.count(&gpus);
  driver.version(&version);
  const std::string found = fmt::format("for CUDA up to {}.{}", version / 1000, version % 1000 / 10);
  if (gpus == 0) {
    findings.push_back({"NVIDIA driver", Health::absent,
                        fmt::format("{}, but it finds no GPU (cuInit: {})", found, status), no_gpu_cost});
    return;
  }
  findings.push_back({"NVIDIA driver", Health::good, found, ""});
  for (int device = 0; device < gpus; ++device) findings.push_back(describe_gpu(driver, device));
}

Finding built_in(std::string topic, std::string_view version, std::string_view why, std::string_view cost) {
  if (!version.empty()) return {std::move(topic), Health::good, fmt::format("{}, built in", version), ""};
  return {std::move(topic), Health::absent, "not in this build", fmt::format("{} ({})", cost, why)};
}

// The backend that init_process_group takes here when the caller does not name one.
Finding describe_auto() {
  const auto found = [](std::string text) {
    return Finding{"backend auto", Health::good, std::move(text), ""};
  };
  std::string why;
  if (dist::default_device(0, &why).type == dist::DeviceType::cpu) return found("host, on the CPU");
  const int gpus = dist::device_api(dist::DeviceType::cuda).count();
  if (!dist::backend_named("nccl").available(&why)) return found(fmt::format("cuda ({})", why));
  return found(
      fmt::format("nccl for up to {}; cuda for more ranks, which share a GPU", dist::counted(gpus, "rank")));
}

}  // namespace

std::vector<Finding> check_gpu() {
  const auto& build = build_info();
  std::vector<Finding> findings;
  add_gpus(findings);
  findings.push_back(built_in("CUDA toolkit", build.cuda, build.why_no_cuda, "no tensors on a GPU"));
  findings.push_back(built_in("cuDNN", build.cudnn, build.why_no_cudnn, "no convolutions on a GPU"));
  findings.push_back(built_in("NCCL", build.nccl, build.why_no_nccl, "no nccl backend"));
  findings.push_back(describe_auto());
  return findings;
}

}  // namespace distlab
