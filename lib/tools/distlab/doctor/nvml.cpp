// The paths between GPUs, as NVML (libnvidia-ml.so.1) knows them. It is called directly, so that builds
// without CUDA draw the machine, too.
#include <array>
#include <cstring>

#include <dlfcn.h>
#include <fmt/format.h>

#include "distlab/doctor/topology.h"

namespace distlab {
namespace {

using Handle = void*;

// The types and constants are those of nvml.h.
struct PciInfo {
  std::array<char, 16> old_id;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> id;
};
constexpr int topology_switches = 20, topology_bridge = 30, topology_node = 40;  // nvmlGpuTopologyLevel_t
constexpr int can_read = 0;                                                      // nvmlGpuP2PCapsIndex_t
constexpr unsigned most_links = 18;

struct Nvml {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Handle*) = nullptr;
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*pci)(Handle, PciInfo*) = nullptr;
  int (*ancestor)(Handle, Handle, int*) = nullptr;
  int (*p2p)(Handle, Handle, int, int*) = nullptr;
  int (*link_state)(Handle, unsigned, int*) = nullptr;
  int (*link_peer)(Handle, unsigned, PciInfo*) = nullptr;

  template <class F>
  bool load(F& function, const char* symbol) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
    return function != nullptr;
  }
  bool load_all() {
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);  // stays loaded, as the driver does
    return library && load(init, "nvmlInit_v2") && load(count, "nvmlDeviceGetCount_v2") &&
           load(handle, "nvmlDeviceGetHandleByIndex_v2") && load(name, "nvmlDeviceGetName") &&
           load(pci, "nvmlDeviceGetPciInfo_v3") && load(ancestor, "nvmlDeviceGetTopologyCommonAncestor") &&
           load(p2p, "nvmlDeviceGetP2PStatus") && load(link_state, "nvmlDeviceGetNvLinkState") &&
           load(link_peer, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  }
};

struct Device {
  Handle handle = nullptr;
  PciInfo pci{};
};

// "00000000:1B:00.0" is "0000:1b:00.0" in sysfs.
std::string sysfs_name(const PciInfo& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

bool is_same(const PciInfo& a, const PciInfo& b) {
  return a.domain == b.domain && a.bus == b.bus && a.device == b.device;
}

// Links that end at the other GPU, or at a switch that connects all of them.
int links_between(const Nvml& nvml, const Device& from, const Device& to, const std::vector<Device>& all) {
  int links = 0;
  for (unsigned link = 0; link < most_links; ++link) {
    int active = 0;
    PciInfo peer{};
    if (nvml.link_state(from.handle, link, &active) != 0 || active == 0) continue;
    if (nvml.link_peer(from.handle, link, &peer) != 0) continue;
    bool is_other_gpu = false;
    for (const Device& other : all)
      is_other_gpu = is_other_gpu || (&other != &to && is_same(peer, other.pci));
    links += is_other_gpu ? 0 : 1;
  }
  return links;
}

GpuPair pair_of(const Nvml& nvml, const Device& a, const Device& b, const std::vector<Device>& all) {
  GpuPair pair;
  int status = 1, level = 0;
  pair.maps = nvml.p2p(a.handle, b.handle, can_read, &status) == 0 && status == 0;
  pair.links = links_between(nvml, a, b, all);
  if (pair.links > 0)
    pair.path = GpuPath::nvlink;
  else if (nvml.ancestor(a.handle, b.handle, &level) == 0)
    pair.path = level <= topology_switches                           ? GpuPath::pcie_switch
                : level <= topology_bridge || level == topology_node ? GpuPath::host_bridge
                                                                     : GpuPath::between_nodes;
  return pair;
}

int node_of(const std::filesystem::path& sys, const PciInfo& pci) {
  std::FILE* const file = std::fopen((sys / "bus/pci/devices" / sysfs_name(pci) / "numa_node").c_str(), "re");
  if (!file) return -1;
  int node = -1;
  if (std::fscanf(file, "%d", &node) != 1) node = -1;
  std::fclose(file);
  return node;
}

}  // namespace

Gpus read_gpus(const std::filesystem::path& sys) {
  Gpus found;
  Nvml nvml;
  if (!nvml.load_all()) {
    found.why_none = "not known: there is no libnvidia-ml.so.1, which comes with NVIDIA's driver";
    return found;
  }
  unsigned count = 0;
  const int status = nvml.init();
  if (status != 0 || nvml.count(&count) != 0 || count == 0) {
    found.why_none = fmt::format("not known: NVML finds no GPU (nvmlInit: {})", status);
    return found;
  }
  std::vector<Device> devices(count);
  for (unsigned i = 0; i < count; ++i) {
    std::array<char, 96> name{};
    nvml.handle(i, &devices[i].handle);
    nvml.name(devices[i].handle, name.data(), static_cast<unsigned>(name.size()));
    nvml.pci(devices[i].handle, &devices[i].pci);
    found.gpus.push_back({name.data(), node_of(sys, devices[i].pci)});
  }
  for (const Device& a : devices) {
    auto& row = found.pairs.emplace_back();
    for (const Device& b : devices) row.push_back(&a == &b ? GpuPair{} : pair_of(nvml, a, b, devices));
  }
  return found;
}

}  // namespace distlab
