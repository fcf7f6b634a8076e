// ./distlab sim: collectives on virtual ranks.
#include <cstdio>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "dist/collectives/algorithms.h"
#include "dist/core/fail.h"
#include "dist/launch/simulate_collective.h"
#include "dist/sim/topology_file.h"

#include "distlab/commands.h"

namespace distlab {
namespace {

using dist::sim::CollectiveCost;
using dist::sim::CollectiveRun;
using dist::sim::Topology;

dist::OpKind collective_named(const std::string& name) {
  std::string names;
  for (int i = 0; i <= static_cast<int>(dist::OpKind::barrier); ++i) {
    const auto kind = static_cast<dist::OpKind>(i);
    if (!dist::is_collective(kind)) continue;
    if (dist::name(kind) == name) return kind;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", dist::name(kind));
  }
  dist::fail(dist::Errc::invalid_argument, "there is no collective \"{}\"; there are {}", name, names);
}

std::vector<std::string> algorithms_of(dist::OpKind collective) {
  std::vector<std::string> names;
  for (const auto& entry : dist::algorithms()) {
    if (entry.collective == collective) names.emplace_back(entry.name);
  }
  return names;
}

std::string readable_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void print_row(const CollectiveRun& run, const CollectiveCost& cost) {
  fmt::print("{:>8} {:>14} {:<20} {:>14} {:>14} {:>18} {:>9.2f} s\n", run.ranks, run.bytes, cost.algorithm,
             readable_time(cost.virtual_time_s), cost.messages, cost.max_bytes_sent_per_rank, cost.wall_s);
  std::fflush(stdout);
}

void print_header() {
  fmt::print("{:>8} {:>14} {:<20} {:>14} {:>14} {:>18} {:>11}\n", "ranks", "bytes", "algorithm",
             "virtual time", "messages", "most bytes a rank", "took");
}

nlohmann::ordered_json to_json(const CollectiveRun& run, const CollectiveCost& cost,
                               const Topology& topology) {
  return {{"collective", dist::name(run.collective)},
          {"algorithm", cost.algorithm},
          {"ranks", run.ranks},
          {"bytes", run.bytes},
          {"topology", topology.name},
          {"virtual_time_s", cost.virtual_time_s},
          {"messages", cost.messages},
          {"wall_s", cost.wall_s},
          {"max_bytes_sent_per_rank", cost.max_bytes_sent_per_rank},
          {"peak_rss_mib", peak_rss_mib()}};
}

void write_json(const std::string& path, const nlohmann::ordered_json& results) {
  const std::string text = (results.size() == 1 ? results[0] : results).dump(2);
  if (path == "-") return fmt::print("{}\n", text);
  std::ofstream file(path);
  file << text << '\n';
  if (!file.flush()) dist::fail(dist::Errc::resource, "{} cannot be written", path);
}

// The notes cite NVIDIA's figure for 24,576 GPUs of Summit: about 180 ms by rings against 1 ms by trees.
int show_headline() {
  const Topology summit = dist::sim::load_topology("summit");
  fmt::print(
      "All-reduce of 8 bytes on 24,576 GPUs. The course notes cite about 180 ms for rings and about 1 ms "
      "for\n"
      "double binary trees (NCCL 2.4 on Summit). Here: distlab's ring and binary tree on topology summit\n"
      "(o = {:.2f} us a message, alpha = {:.2f} us between nodes). A ring takes 2(n-1) = 49,150 messages one "
      "after\n"
      "the other, a tree about 2 log2 n = 30: the ratio comes from that, the milliseconds from the "
      "constants.\n\n",
      summit.overhead_s * 1e6, summit.inter.latency_s * 1e6);
  print_header();
  double times[2] = {};
  for (int i = 0; const char* algorithm : {"tree", "ring"}) {
    const CollectiveRun run{dist::OpKind::all_reduce, algorithm, 24'576, 8};
    const auto cost = dist::sim::simulate_collective(run, summit);
    times[i++] = cost.virtual_time_s;
    print_row(run, cost);
  }
  fmt::print("\nring / tree = {:.0f}\n", times[1] / times[0]);
  return exit_ok;
}

}  // namespace

int run_simulation(const SimOptions& options) {
  if (options.headline) return show_headline();
  const Topology topology = dist::sim::load_topology(options.topology);
  const dist::OpKind collective = collective_named(options.collective);
  const auto algorithms = options.algorithms.empty() ? algorithms_of(collective) : options.algorithms;
  const bool table = options.json != "-";
  auto results = nlohmann::ordered_json::array();
  if (table) {
    fmt::print("{} on {}: {}\n", options.collective, topology.name, topology.about);
    print_header();
  }
  for (const int ranks : options.ranks) {
    for (const std::uint64_t bytes : options.bytes) {
      for (const auto& algorithm : algorithms) {
        const CollectiveRun run{collective, algorithm, ranks, static_cast<std::int64_t>(bytes)};
        const auto cost = dist::sim::simulate_collective(run, topology);
        if (table) print_row(run, cost);
        results.push_back(to_json(run, cost, topology));
      }
    }
  }
  if (!options.json.empty()) write_json(options.json, results);
  return exit_ok;
}

}  // namespace distlab
