#include "dist/group/join/slurm_nodes.h"

#include "dist/core/fail.h"

namespace dist {

SlurmNodes parse_slurm_nodes(std::string_view variable, std::string_view list) {
  auto malformed = [&](std::string_view why) {
    fail(Errc::invalid_argument, "{} is '{}': {}; set MASTER_ADDR to rank 0's host", variable, list, why);
  };
  SlurmNodes nodes;
  for (std::size_t at = 0; at < list.size();) {
    if (list[at] == ',') {
      nodes.several = true;
      break;
    }
    if (list[at] == ']') malformed("a ']' without its '['");
    if (list[at] != '[') {
      nodes.first += list[at++];
      continue;
    }
    const auto close = list.find(']', at);
    if (close == std::string_view::npos) malformed("a '[' without its ']'");
    const std::string_view ranges = list.substr(at + 1, close - at - 1);
    const std::string_view lowest = ranges.substr(0, ranges.find_first_of(",-"));
    if (lowest.empty() || lowest.find('[') != std::string_view::npos) malformed("an empty or nested bracket");
    nodes.first += lowest;
    nodes.several |= lowest.size() < ranges.size();
    at = close + 1;
  }
  if (nodes.first.empty()) malformed("no node name");
  return nodes;
}

}  // namespace dist
