// How the machine is wired: nodes with cores, network cards and GPUs, and the paths between GPUs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "distlab/doctor/doctor.h"

namespace distlab {

struct NumaNode {
  int number = 0;
  std::string cores;  // "0-15,32-47"
};

struct NetworkCard {
  std::string name;
  std::string kind;  // "Ethernet", "InfiniBand", "RoCE"
  bool is_up = false;
  double gigabits = 0;  // 0: not known
  int node = -1;        // -1: not known
};

// How two GPUs reach each other, the nearest first.
enum class GpuPath : std::uint8_t { nvlink, pcie_switch, host_bridge, between_nodes, unknown };

struct GpuPair {
  GpuPath path = GpuPath::unknown;
  int links = 0;      // of NVLink
  bool maps = false;  // whether each maps the other's memory
};

struct Gpus {
  struct Gpu {
    std::string name;
    int node = -1;
  };
  std::vector<Gpu> gpus;
  std::vector<std::vector<GpuPair>> pairs;  // by both indices
  std::string why_none;                     // where nothing is known: one line
};

struct Topology {
  std::vector<NumaNode> nodes;
  std::vector<NetworkCard> cards;
  Gpus gpus;
};

// `sys`: where the kernel describes devices, "/sys".
Topology read_topology(const std::filesystem::path& sys, Gpus gpus);
// What NVML says; why_none where there is no driver.
Gpus read_gpus(const std::filesystem::path& sys);

// A picture of several lines: every node with what belongs to it, then the paths between GPUs as a table.
std::string drawn(const Topology& topology);
// What the wiring means for the backends.
std::vector<Finding> explain(const Topology& topology);

}  // namespace distlab
