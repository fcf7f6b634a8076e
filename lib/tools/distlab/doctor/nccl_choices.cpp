// What is read from NCCL's log: lines of connections, of the network, and of the tuning table.
#include "distlab/doctor/nccl_choices.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace distlab {
namespace {

// "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read", "... 1[1] -> 2[0] [send] via NET/IB/0/GDRDMA". A message
// through the network is logged by both of its ranks.
void add_connection(const std::string& line, std::vector<NcclChoices::Way>& ways) {
  int from = 0, to = 0;
  const auto colon = line.find(" : "), via = line.find(" via ");
  if (colon == std::string::npos || via == std::string::npos || line.find("[receive]") != std::string::npos)
    return;
  if (std::sscanf(line.c_str() + colon, " : %d[%*[^]]] -> %d[", &from, &to) != 2) return;
  std::string name = line.substr(via + 5);
  if (const auto first = name.find('/'); first != std::string::npos)
    name = name.substr(0, name.find_first_of("/(", first + 1));
  auto way = std::ranges::find(ways, name, &NcclChoices::Way::name);
  if (way == ways.end()) way = ways.insert(ways.end(), {name, {}});
  std::string pair = fmt::format("{}->{}", from, to);
  if (std::ranges::find(way->pairs, pair) == way->pairs.end()) way->pairs.push_back(std::move(pair));
}

}  // namespace

NcclChoices nccl_choices(std::string_view log) {
  constexpr std::string_view mark = "NCCL INFO ", network = "Using network ";
  NcclChoices found;
  std::istringstream lines{std::string(log)};
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find(mark);
    if (begin == std::string::npos) continue;
    line.erase(0, begin + mark.size());
    if (line.starts_with("Channel "))
      add_connection(line, found.ways);
    else if (line.starts_with(network))
      found.network = line.substr(network.size());
    else if (line.ends_with(" |"))
      found.table.push_back(line);
  }
  for (auto& way : found.ways) std::ranges::sort(way.pairs);
  return found;
}

Finding explain(const NcclChoices& choices) {
  if (choices.ways.empty())
    return {"NCCL's paths", Health::absent, "NCCL has not said which paths it takes",
            "this version of NCCL prints them differently; see NCCL_DEBUG=INFO ./distlab bench all_reduce "
            "--backend nccl"};
  std::vector<std::string> ways;
  bool is_direct = true;
  for (const auto& way : choices.ways) {
    ways.push_back(fmt::format("{} {}", way.name, fmt::join(way.pairs, ", ")));
    is_direct = is_direct && way.name.starts_with("P2P");
  }
  if (!choices.network.empty()) ways.push_back(fmt::format("between hosts {}", choices.network));
  return {"NCCL's paths", is_direct ? Health::good : Health::absent, fmt::format("{}", fmt::join(ways, "; ")),
          is_direct ? "" : "pairs without P2P exchange data through the host's memory or the network"};
}

}  // namespace distlab
