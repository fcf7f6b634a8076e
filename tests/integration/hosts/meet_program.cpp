// meet_program METHOD RANK WORLD_SIZE TIMEOUT_S: joins, sums, leaves; says "met", or why not.
#include <cstdlib>

#include <fmt/format.h>

#include "dist/dist.h"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    const int n = std::atoi(argv[3]);
    dist::init_process_group({.init_method = argv[1],
                              .rank = std::atoi(argv[2]),
                              .world_size = n,
                              .timeout = std::chrono::seconds(std::atoi(argv[4]))});
    auto t = dist::full({1000}, dist::get_rank() + 1);
    dist::all_reduce(t);
    if (!dist::equal(t, dist::full({1000}, n * (n + 1) / 2))) throw std::runtime_error("a wrong sum");
    dist::destroy_process_group();
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
  fmt::print("met\n");
}
