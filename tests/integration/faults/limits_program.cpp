// Four ranks that all-reduce a megabyte: "ok", or one line that says what the system refused.
#include <cstdio>
#include <cstring>

#include "dist/dist.h"

int main(int argc, char** argv) {
  const bool threads = argc > 1 && std::strcmp(argv[1], "threads") == 0;
  try {
    dist::spawn(
        4,
        [](int rank) {
          dist::init_process_group({.timeout = std::chrono::seconds(10)});
          auto t = dist::full({262'144}, rank);
          dist::all_reduce(t, dist::ReduceOp::sum, {.async_op = true}).wait();
          if (dist::max(t) != 6) throw dist::Error(dist::Errc::internal, "wrong sum");
          dist::destroy_process_group();
        },
        threads ? dist::Ranks::threads : dist::Ranks::processes);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  std::puts("ok");
}
