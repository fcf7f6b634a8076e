// The places of the processes of three nodes, and the GPU that each takes, by lab 01's solution.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "init_process_group.h"

int main() {
  const std::vector<int> processes{3, 1, 2};
  std::vector<int> ranks, local_ranks;
  std::string gpus;
  for (int node = 0; node < 3; ++node) {
    const int here = processes[static_cast<std::size_t>(node)];
    for (int local = 0; local < here; ++local) {
      const auto place = lab::place_of(processes, node, local);
      const auto line = lab::describe({.pid = 1, .host = "node", .gpus = here, .place = place});
      ranks.push_back(place.rank);
      local_ranks.push_back(place.local_rank);
      gpus += ' ' + line.substr(line.rfind(':') + 1);  // "pid 1 on node, cuda:2"
    }
  }
  fmt::print("rank {}\nlocal rank {}\nGPU{}\n", fmt::join(ranks, " "), fmt::join(local_ranks, " "), gpus);
}
