// One direction of each link between GPUs, in GB/s: as the simulator's topologies have it, and for PCIe
// computed from its lanes. Also a ring on the 8 GPUs of one node, and on the 16 of two.
#include <fmt/format.h>

#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate_collective.h"

namespace {

using dist::sim::load_topology;

double gb_per_s(const dist::sim::LinkFigures& link) { return link.bandwidth / 1e9; }

// 16 lanes with this many transfers per second, one bit each; 128 of 130 bits are data.
double pcie(double giga_transfers) { return 16 * giga_transfers * 128 / 130 / 8; }

double ring_ms(int ranks) {
  const auto machine = load_topology("dgx-a100-hdr");
  return dist::sim::simulate_collective({.algorithm = "ring", .ranks = ranks, .bytes = 64 << 20}, machine)
             .virtual_time_s *
         1e3;
}

}  // namespace

int main() {
  const auto a100 = load_topology("dgx-a100-hdr"), h100 = load_topology("dgx-h100-ndr"),
             ethernet = load_topology("10gbe");
  const double nvlink3 = gb_per_s(a100.intra), nvlink4 = gb_per_s(h100.intra);
  const double hdr = gb_per_s(a100.inter), ndr = gb_per_s(h100.inter), slow = gb_per_s(ethernet.inter);
  fmt::print("NVLink {} {}\nInfiniBand {} {}\nEthernet {}\n", nvlink4, nvlink3, ndr, hdr, slow);
  fmt::print("PCIe {:.3g} {:.3g}\n", pcie(32), pcie(16));
  fmt::print("ladder {:.0f}\ngap {:.0f} {:.0f}\n", nvlink4 / slow, nvlink4 / ndr, nvlink3 / hdr);
  const double one_node = ring_ms(8), two_nodes = ring_ms(16);
  fmt::print("ring {:.2f} {:.2f} {:.0f}\n", one_node, two_nodes, two_nodes / one_node);
}
