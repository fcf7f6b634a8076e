// The machine's wiring: read_topology() reads what the kernel reports about nodes and network cards, drawn()
// draws it, and explain() says what it means. The paths between GPUs are in nvml.cpp.
#include "distlab/doctor/topology.h"

#include <algorithm>
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/counted.h"

namespace distlab {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

int node_of(const fs::path& device) { return static_cast<int>(number_in(device / "numa_node").value_or(-1)); }

// The entries of a folder, by name; none where it does not exist.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

std::vector<NumaNode> read_nodes(const fs::path& sys) {
  std::vector<NumaNode> nodes;
  for (const fs::path& path : entries(sys / "devices/system/node")) {
    const std::string name = path.filename();
    if (!name.starts_with("node") || name.size() == 4) continue;
    nodes.push_back({std::stoi(name.substr(4)), first_line(path / "cpulist")});
  }
  std::ranges::sort(nodes, {}, &NumaNode::number);
  return nodes;
}

// Loopback and interfaces that are neither a card nor up are left out.
void add_network(const fs::path& sys, std::vector<NetworkCard>& cards) {
  constexpr double ethernet = 1, megabits_per_gigabit = 1000;
  for (const fs::path& path : entries(sys / "class/net")) {
    const bool is_up = first_line(path / "operstate") == "up";
    if (number_in(path / "type") != ethernet || (!is_up && !fs::exists(path / "device"))) continue;
    const double speed = std::max(0.0, number_in(path / "speed").value_or(0));
    cards.push_back(
        {path.filename(), "Ethernet", is_up, speed / megabits_per_gigabit, node_of(path / "device")});
  }
}

// "4: ACTIVE", "400 Gb/sec (4X NDR)".
void add_infiniband(const fs::path& sys, std::vector<NetworkCard>& cards) {
  for (const fs::path& path : entries(sys / "class/infiniband"))
    for (const fs::path& port : entries(path / "ports")) {
      const bool is_roce = first_line(port / "link_layer") == "Ethernet";
      cards.push_back({fmt::format("{}:{}", path.filename().string(), port.filename().string()),
                       is_roce ? "RoCE" : "InfiniBand",
                       first_line(port / "state").find("ACTIVE") != std::string::npos,
                       number_in(port / "rate").value_or(0), node_of(path / "device")});
    }
}

std::string line_of(const NetworkCard& card) {
  const std::string speed = card.gigabits > 0 ? fmt::format(", {:g} Gb/s", card.gigabits) : "";
  return fmt::format("{}  {}, {}{}", card.name, card.kind, card.is_up ? "up" : "down", speed);
}

std::string short_name(const GpuPair& pair) {
  switch (pair.path) {
    case GpuPath::nvlink: return fmt::format("NV{}", pair.links);
    case GpuPath::pcie_switch: return "PIX";
    case GpuPath::host_bridge: return "PHB";
    case GpuPath::between_nodes: return "SYS";
    case GpuPath::unknown: return "?";
  }
  __builtin_unreachable();
}

void draw_node(std::string& text, const std::string& title, const std::vector<std::string>& lines) {
  text += fmt::format("  {}\n", title);
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += fmt::format("    {} {}\n", i + 1 < lines.size() ? "|--" : "`--", lines[i]);
}

std::vector<std::string> lines_of(const Topology& all, const std::function<bool(int node)>& belongs) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < all.gpus.gpus.size(); ++i)
    if (belongs(all.gpus.gpus[i].node)) lines.push_back(fmt::format("GPU {}  {}", i, all.gpus.gpus[i].name));
  for (const NetworkCard& card : all.cards)
    if (belongs(card.node)) lines.push_back(line_of(card));
  return lines;
}

// A * after a path: the two cannot map each other's memory.
std::string table_of(const Gpus& gpus) {
  if (gpus.gpus.size() < 2) return {};
  std::string text = fmt::format("  {:<7}", "");
  for (std::size_t j = 0; j < gpus.gpus.size(); ++j) text += fmt::format("{:<7}", fmt::format("GPU {}", j));
  text += '\n';
  for (std::size_t i = 0; i < gpus.gpus.size(); ++i) {
    text += fmt::format("  {:<7}", fmt::format("GPU {}", i));
    for (std::size_t j = 0; j < gpus.gpus.size(); ++j) {
      const GpuPair& pair = gpus.pairs[i][j];
      text += fmt::format("{:<7}", i == j ? "-" : short_name(pair) + (pair.maps ? "" : "*"));
    }
    text += '\n';
  }
  return text +
         "  NV: that many NVLinks. PIX: a PCIe switch. PHB: the CPU's PCIe bridge. SYS: the link between "
         "nodes.\n"
         "  *: neither maps the other's memory.\n";
}

// The pairs i < j for which a predicate holds, as "0-1, 0-3".
template <class Predicate>
std::string pairs_where(const Gpus& gpus, const Predicate& holds) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < gpus.gpus.size(); ++i)
    for (std::size_t j = i + 1; j < gpus.gpus.size(); ++j)
      if (holds(gpus.pairs[i][j])) found.push_back(fmt::format("{}-{}", i, j));
  return fmt::format("{}", fmt::join(found, ", "));
}

void explain_gpus(const Gpus& gpus, std::vector<Finding>& findings) {
  if (!gpus.why_none.empty()) {
    findings.push_back({"GPU paths", Health::absent, gpus.why_none,
                        "no GPU is drawn; backend auto is host on the CPU unless CUDA finds one"});
    return;
  }
  if (gpus.gpus.size() < 2) {
    findings.push_back(
        {"GPU paths", Health::good,
         "one GPU: ranks that share it map each other's memory, and backend auto is cuda for them", ""});
    return;
  }
  const std::string apart = pairs_where(gpus, [](const GpuPair& pair) { return !pair.maps; });
  const std::string linked =
      pairs_where(gpus, [](const GpuPair& pair) { return pair.path == GpuPath::nvlink; });
  if (apart.empty())
    findings.push_back(
        {"GPU paths", Health::good,
         "every pair maps each other's memory: backend auto is nccl for a rank per GPU, which should choose "
         "P2P, and cuda for more ranks, which copies from GPU to GPU",
         ""});
  else
    findings.push_back(
        {"GPU paths", Health::absent, fmt::format("no mapping between the GPUs {}", apart),
         "backend auto is nccl for a rank per GPU, which sends between these through shared memory; with "
         "more ranks it is cuda, which copies through the host: start one rank per GPU, or use GPUs that "
         "are connected"});
  if (linked.empty())
    findings.push_back({"NVLink", Health::absent, "no links between GPUs",
                        "data between GPUs is as fast as PCIe carries it"});
  else
    findings.push_back({"NVLink", Health::good, fmt::format("between the GPUs {}", linked), ""});
}

void explain_network(const std::vector<NetworkCard>& cards, std::vector<Finding>& findings) {
  const auto is_fabric = [](const NetworkCard& card) { return card.kind != "Ethernet"; };
  const auto fabric =
      std::ranges::count_if(cards, [&](const auto& card) { return is_fabric(card) && card.is_up; });
  std::vector<std::string> down;
  for (const NetworkCard& card : cards)
    if (is_fabric(card) && !card.is_up) down.push_back(card.name);
  if (!down.empty())
    findings.push_back({"fabric", Health::absent, fmt::format("{} down", fmt::join(down, ", ")),
                        "NCCL between hosts does not use these ports: check the cable and `ibstat`"});
  if (fabric > 0)
    findings.push_back(
        {"fabric", Health::good,
         fmt::format("{} up: NCCL between hosts should choose IB; backend auto is nccl where every "
                     "rank has a GPU of its own",
                     dist::counted(fabric, "port")),
         ""});
  else if (down.empty())
    findings.push_back({"fabric", Health::good,
                        "no InfiniBand or RoCE port: between hosts, NCCL uses sockets, as all backends do",
                        ""});
}

}  // namespace

Topology read_topology(const fs::path& sys, Gpus gpus) {
  Topology found{.nodes = read_nodes(sys), .cards = {}, .gpus = std::move(gpus)};
  add_network(sys, found.cards);
  add_infiniband(sys, found.cards);
  return found;
}

std::string drawn(const Topology& all) {
  std::string text;
  const auto is_known = [&](int node) {
    return std::ranges::any_of(all.nodes, [&](const NumaNode& each) { return each.number == node; });
  };
  // If there is only one node, everything belongs to it.
  for (const NumaNode& node : all.nodes)
    draw_node(text, fmt::format("node {} (cores {})", node.number, node.cores), lines_of(all, [&](int of) {
                return of == node.number || (all.nodes.size() == 1 && !is_known(of));
              }));
  if (all.nodes.size() != 1) {
    const auto rest = lines_of(all, [&](int of) { return !is_known(of); });
    if (!rest.empty()) draw_node(text, "on no known node", rest);
  }
  return text + table_of(all.gpus);
}

std::vector<Finding> explain(const Topology& all) {
  std::vector<Finding> findings;
  explain_gpus(all.gpus, findings);
  explain_network(all.cards, findings);
  return findings;
}

}  // namespace distlab
