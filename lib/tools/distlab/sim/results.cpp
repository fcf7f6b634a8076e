#include "distlab/sim/results.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <sys/resource.h>

#include "dist/core/json.h"
#include "dist/launch/spawn_simulated.h"

#include "distlab/file_text.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

using dist::OrderedJson;
using dist::sim::CollectiveCost;

std::string readable_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

// Prints a line of the table: on a narrow terminal in two rows, the second one below the algorithm.
void print_cells(const std::array<std::string, 7>& cells) {
  constexpr std::array widths{8, 14, -20, 14, 14, 18, 11};  // in columns; negative: on the left
  constexpr std::size_t in_first_row = 4;
  constexpr int whole = 105, second_row = 9;
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i == in_first_row && columns_to_fit() < whole) line += fmt::format("\n{:{}}", "", second_row);
    line += i == 0 ? "" : " ";
    line += widths[i] < 0 ? fmt::format("{:<{}}", cells[i], -widths[i])
                          : fmt::format("{:>{}}", cells[i], widths[i]);
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// "0, 1, 3-7"
std::string readable_ranks(const std::vector<int>& ranks) {  // ascending
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (end - i > 1) text += fmt::format("{}{}", end - i > 2 ? "-" : ", ", ranks[end - 1]);
    i = end;
  }
  return text;
}

// Prints which ranks were lost, and which ranks got which error.
void print_failures(const CollectiveCost& cost) {
  std::map<std::string, std::vector<int>> told;
  for (const auto& [rank, what] : cost.failures) {
    const std::string label = fmt::format("rank {}: ", rank);
    if (what.starts_with(label))
      told[what.substr(label.size())].push_back(rank);
    else
      fmt::print("         {}\n", what);
  }
  for (auto& [what, ranks] : told) {
    std::ranges::sort(ranks);
    fmt::print("         {} {}: {}\n", ranks.size() == 1 ? "rank" : "ranks", readable_ranks(ranks), what);
  }
}

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

OrderedJson links_as_json(const CollectiveCost& cost) {
  auto links = OrderedJson::array();
  for (const auto& [src, dst, messages, bytes] : cost.links)
    links.push_back({{"src", src}, {"dst", dst}, {"messages", messages}, {"bytes", bytes}});
  return links;
}

OrderedJson to_json(const SimResult& of, const std::string& topology) {
  const auto& [run, cost] = of;
  OrderedJson result{{"collective", dist::name(run.collective)},
                     {"algorithm", cost.algorithm},
                     {"ranks", run.ranks},
                     {"bytes", run.bytes},
                     {"topology", topology},
                     {"virtual_time_s", cost.virtual_time_s},
                     {"messages", cost.messages},
                     {"wall_s", cost.wall_s},
                     {"max_bytes_sent_per_rank", cost.max_bytes_sent_per_rank},
                     {"peak_rss_mib", peak_rss_mib()}};
  if (run.links) result["links"] = links_as_json(cost);
  for (const auto& [rank, what] : cost.failures)
    result["failures"].push_back({{"rank", rank}, {"what", what}});
  return result;
}

}  // namespace

void print_header() {
  print_cells({"ranks", "bytes", "algorithm", "virtual time", "messages", "max bytes per rank", "took"});
}

void print(const SimResult& result) {
  const auto& [run, cost] = result;
  print_cells({std::to_string(run.ranks), std::to_string(run.bytes), cost.algorithm,
               readable_time(cost.virtual_time_s), std::to_string(cost.messages),
               std::to_string(cost.max_bytes_sent_per_rank), fmt::format("{:.2f} s", cost.wall_s)});
  print_failures(cost);
  if (run.links) fmt::print("         {}", dist::busiest_links(cost.links));
  std::fflush(stdout);
}

void write_json(const std::string& path, const std::vector<SimResult>& results, const std::string& topology) {
  auto list = OrderedJson::array();
  for (const auto& result : results) list.push_back(to_json(result, topology));
  const std::string text = dist::json_text(list.size() == 1 ? list[0] : list, 2);
  write_output(text + '\n', path);
}

}  // namespace distlab
