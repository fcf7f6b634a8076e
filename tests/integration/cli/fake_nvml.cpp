// A libnvidia-ml.so.1 of a machine that is made up: FAKE_NVML="8 switch" in the environment.
//
//   none    GPUs without NVLink, each behind another CPU, none of which maps another's memory
//   pcie    all behind one PCIe switch, and they map each other's memory
//   pairs   GPUs 0 and 1, 2 and 3, ... have four NVLinks between them; other pairs are behind different CPUs,
//   and do not map switch  18 NVLinks of each GPU end at a switch
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct PciInfo {  // nvmlPciInfo_t
  char old_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};

constexpr int good = 0, not_found = 6;

struct Machine {
  unsigned gpus = 0;
  std::string wiring;
};
Machine machine() {
  Machine found;
  char wiring[16] = "none";
  if (const char* const text = std::getenv("FAKE_NVML")) std::sscanf(text, "%u %15s", &found.gpus, wiring);
  found.wiring = wiring;
  return found;
}

// A handle is the number of the GPU, and 1, as none is null.
unsigned number(const void* gpu) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(gpu)) - 1; }
bool are_a_pair(const void* a, const void* b) { return number(a) / 2 == number(b) / 2; }

void name_pci(PciInfo& pci, unsigned bus) {
  pci = {};
  pci.bus = bus;
}
constexpr unsigned first_bus = 0x10, bus_of_switch = 0x80;

}  // namespace

extern "C" {

int nvmlInit_v2() { return std::getenv("FAKE_NVML") ? good : 9; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = machine().gpus;
  return good;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  *gpu = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return good;
}
int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::snprintf(name, length, "Fake GPU");
  return good;
}
int nvmlDeviceGetPciInfo_v3(void* gpu, PciInfo* pci) {
  name_pci(*pci, first_bus + number(gpu));
  return good;
}
int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) {
  constexpr int one_switch = 10, different_cpus = 50;
  *level = machine().wiring == "pcie" ? one_switch : different_cpus;
  return good;
}
int nvmlDeviceGetP2PStatus(void* a, void* b, int, int* status) {
  const std::string wiring = machine().wiring;
  const bool maps = wiring == "pcie" || wiring == "switch" || (wiring == "pairs" && are_a_pair(a, b));
  *status = maps ? 0 : 1;
  return good;
}
int nvmlDeviceGetNvLinkState(void*, unsigned link, int* active) {
  const std::string wiring = machine().wiring;
  *active = link < (wiring == "switch" ? 18U : wiring == "pairs" ? 4U : 0U) ? 1 : 0;
  return *active ? good : not_found;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* gpu, unsigned, PciInfo* pci) {
  name_pci(*pci, machine().wiring == "switch" ? bus_of_switch : first_bus + (number(gpu) ^ 1U));
  return good;
}

}  // extern "C"
