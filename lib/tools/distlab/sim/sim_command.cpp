// ./distlab sim: collectives on virtual ranks. program.cpp has programs and labs.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate_collective.h"

#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/labs.h"
#include "distlab/plot.h"
#include "distlab/sim/how_far.h"
#include "distlab/sim/results.h"
#include "distlab/sim/sweep.h"
#include "distlab/terminal.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace {

using dist::sim::CollectiveRun;
using dist::sim::Topology;

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(dist::OpKind::barrier); ++i) {
    const auto kind = static_cast<dist::OpKind>(i);
    if (dist::is_collective(kind)) names.emplace_back(dist::name(kind));
  }
  return names;
}

std::optional<dist::OpKind> collective_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(dist::OpKind::barrier); ++i) {
    const auto kind = static_cast<dist::OpKind>(i);
    if (dist::is_collective(kind) && dist::name(kind) == name) return kind;
  }
  return std::nullopt;
}

// Returns what --bytes counts, as CollectiveRun::bytes does.
const char* what_bytes_are(dist::OpKind collective) {
  switch (collective) {
    case dist::OpKind::broadcast:
    case dist::OpKind::reduce:
    case dist::OpKind::all_reduce: return "bytes of the tensor";
    case dist::OpKind::gather:
    case dist::OpKind::all_gather: return "bytes of the output, the parts of n ranks";
    case dist::OpKind::scatter:
    case dist::OpKind::reduce_scatter:
    case dist::OpKind::all_to_all: return "bytes of the input, the parts of n ranks";
    case dist::OpKind::send:
    case dist::OpKind::recv:
    case dist::OpKind::barrier: break;
  }
  return "bytes";
}

// The course notes cite NVIDIA's figure for 24,576 GPUs of Summit: about 180 ms by rings against 1 ms by
// trees.
int show_headline() {
  const Topology summit = dist::sim::load_topology("summit");
  fmt::print(
      "{}",
      paragraphs(fmt::format(
          "All-reduce of 8 bytes on 24,576 GPUs. The course notes cite about 180 ms for rings and about 1 ms "
          "for\n"
          "double binary trees (NCCL 2.4 on Summit). Below are distlab's ring and binary tree on topology "
          "summit\n"
          "(o = {:.2f} us per message, alpha = {:.2f} us between nodes). A ring takes 2(n-1) = 49,150 "
          "messages "
          "in\n"
          "sequence, a tree about 2 log2 n = 30. The ratio comes from these numbers, the milliseconds from "
          "the\n"
          "constants.\n\n",
          summit.overhead_s * 1e6, summit.inter.latency_s * 1e6)));
  print_header();
  double times[2] = {};
  for (int i = 0; const char* algorithm : {"tree", "ring"}) {
    const CollectiveRun run{dist::OpKind::all_reduce, algorithm, 24'576, 8};
    const SimResult result{run, simulate_and_say_how_far(run, summit)};
    times[i++] = result.cost.virtual_time_s;
    print(result);
  }
  fmt::print("\nring / tree = {:.0f}\n", times[1] / times[0]);
  return exit_ok;
}

dist::sim::WhatIf what_if_of(const SimOptions& options) {
  dist::sim::WhatIf what_if;
  for (const auto& text : options.stragglers) what_if.stragglers.push_back(dist::sim::parse_straggler(text));
  for (const auto& text : options.slow_links) what_if.slow_links.push_back(dist::sim::parse_slow_link(text));
  for (const auto& text : options.losses) what_if.losses.push_back(dist::sim::parse_loss(text));
  return what_if;
}

// Returns ranks and bytes, which --sweep or --ranks and --bytes may give.
Sweep sweep_of(const SimOptions& options) {
  Sweep sweep;
  if (!options.sweep.empty()) sweep = parse_sweep(options.sweep);
  const auto refuse = [](const char* what) {
    dist::fail(dist::Errc::invalid_argument,
               "{0} are given twice, by --sweep and by --{0}; leave one of them out", what);
  };
  if (!options.ranks.empty() && !sweep.ranks.empty()) refuse("ranks");
  if (!options.bytes.empty() && !sweep.bytes.empty()) refuse("bytes");
  if (sweep.ranks.empty()) sweep.ranks = options.ranks.empty() ? std::vector{4} : options.ranks;
  if (sweep.bytes.empty())
    sweep.bytes = options.bytes.empty() ? std::vector<std::uint64_t>{4} : options.bytes;
  return sweep;
}

// The results as lines: over the sizes, with a line for each number of ranks, or over the numbers of ranks.
class Curves {
 public:
  Curves(const SimOptions& options, dist::OpKind collective, const Sweep& sweep, const Topology& topology)
      : over_bytes_(sweep.bytes.size() > 1) {
    if (options.plot.empty()) return;
    if (!over_bytes_ && sweep.ranks.size() < 2)
      dist::fail(dist::Errc::invalid_argument,
                 "--plot needs several numbers of ranks or sizes, as in --sweep ranks=2..256");
    if (over_bytes_ && std::ranges::count(sweep.bytes, 0) > 0)
      dist::fail(dist::Errc::invalid_argument,
                 "--plot cannot show 0 bytes on a logarithmic axis; leave that size out");
    several_ranks_ = over_bytes_ && sweep.ranks.size() > 1;
    const auto one = !over_bytes_
                         ? fmt::format(" of {}", readable(static_cast<double>(sweep.bytes[0]), Unit::bytes))
                     : several_ranks_ ? std::string()
                                      : fmt::format(" on {}", dist::counted(sweep.ranks[0], "rank"));
    plot_.title = fmt::format("{}{}, simulated on {}", options.what, one, topology.name);
    plot_.x =
        over_bytes_ ? PlotAxis{what_bytes_are(collective), Unit::bytes} : PlotAxis{"ranks", Unit::count};
    plot_.y = {"virtual time", Unit::seconds};
  }

  void add(const SimResult& result) {
    const CollectiveRun& run = result.run;
    const auto& cost = result.cost;
    if (cost.virtual_time_s <= 0)
      return;  // one rank alone takes no time, which a logarithmic axis cannot show
    const std::string label = several_ranks_ ? dist::counted(run.ranks, "rank") : "";
    const auto is_ours = [&](const PlotLine& line) {
      return line.family == cost.algorithm && line.label == label;
    };
    auto line = std::ranges::find_if(plot_.lines, is_ours);
    if (line == plot_.lines.end()) line = plot_.lines.insert(line, {cost.algorithm, label, {}});
    line->points.emplace_back(over_bytes_ ? static_cast<double>(run.bytes) : run.ranks, cost.virtual_time_s);
  }

  void write(const std::filesystem::path& path) {
    for (PlotLine& line : plot_.lines) std::ranges::sort(line.points);
    if (plot_.lines.empty())
      dist::fail(dist::Errc::invalid_argument,
                 "--plot: no result took any time, so there is nothing to draw");
    write_svg(plot_, path);
  }

 private:
  bool over_bytes_, several_ranks_ = false;
  Plot plot_;
};

// Returns all runs in the order of the table, after checking them, so that an error is found before the first
// one begins.
std::vector<CollectiveRun> runs_of(const SimOptions& options, dist::OpKind collective, const Sweep& sweep,
                                   const Topology& topology) {
  const auto algorithms =
      options.algorithms.empty() ? dist::sim::simulated_algorithms(collective, topology) : options.algorithms;
  const auto what_if = what_if_of(options);
  std::vector<CollectiveRun> runs;
  for (const int ranks : sweep.ranks) {
    for (const std::uint64_t bytes : sweep.bytes) {
      for (const auto& algorithm : algorithms)
        runs.push_back(
            {collective, algorithm, ranks, static_cast<std::int64_t>(bytes), what_if, options.links});
    }
  }
  for (const auto& run : runs) dist::sim::check_collective(run, topology);
  return runs;
}

int simulate_collectives(const SimOptions& options, dist::OpKind collective) {
  if (!options.arguments.empty())
    dist::fail(dist::Errc::invalid_argument, "{} takes no arguments, but got \"{}\"", options.what,
               options.arguments[0]);
  if (!options.seed.empty() || !options.explore.empty())
    dist::fail(dist::Errc::invalid_argument,
               "--seed and --explore are for a program, because {} has only one schedule; leave them out",
               options.what);
  const Topology topology = dist::sim::load_topology(options.topology);
  const Sweep sweep = sweep_of(options);
  const auto runs = runs_of(options, collective, sweep, topology);
  if (!options.trace.empty()) trace_collective(options, collective, what_if_of(options));
  Curves curves(options, collective, sweep, topology);
  const bool table = options.json != "-";
  if (table) {
    fmt::print("{} on {}: {}\n", options.what, topology.name, topology.about);
    print_header();
  }
  std::vector<SimResult> results;
  for (const auto& run : runs) {
    results.push_back({run, simulate_and_say_how_far(run, topology)});
    if (table) print(results.back());
    curves.add(results.back());
  }
  if (!options.json.empty()) write_json(options.json, results, topology.name);
  if (!options.plot.empty()) curves.write(options.plot);
  return exit_ok;
}

constexpr std::array stories_of_their_own{9, 10, 11, 12, 16};  // demos that cannot be simulated

int simulate_lab(const SimOptions& options) {
  Lab lab;
  try {
    lab = find_lab(options.what);
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::invalid_argument) throw;
    dist::fail(dist::Errc::invalid_argument,
               "\"{}\" is not a collective ({}), and {}; for a program write its path, such as ./{}",
               options.what, fmt::join(collective_names(), ", "), error.what(), options.what);
  }
  if (std::ranges::find(stories_of_their_own, lab.number) != stories_of_their_own.end())
    dist::fail(dist::Errc::invalid_argument,
               "the demo of lab {} simulates, measures or kills ranks itself; run it with ./distlab run {}",
               lab.number, lab.number);
  return simulate_program(options, lab_program(lab, options.solution ? "solution_demo" : "demo").string());
}

}  // namespace

int run_simulation(const SimOptions& options) try {
  if (options.headline) return show_headline();
  check_output("--json", options.json);
  check_output("--plot", options.plot);
  check_output("--trace", options.trace);
  const bool is_program = options.what.find('/') != std::string::npos;
  const auto collective = collective_named(options.what);
  if (options.solution && (is_program || collective))
    dist::fail(dist::Errc::invalid_argument, "--solution is for a lab: ./distlab sim 1 --solution");
  if (is_program) return simulate_program(options, options.what);
  if (collective) return simulate_collectives(options, *collective);
  return simulate_lab(options);
} catch (const dist::Error& error) {
  return wrong_usage(error);
}

}  // namespace distlab
