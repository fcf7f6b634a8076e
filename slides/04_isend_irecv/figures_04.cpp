// How long swapping half a MiB takes in the virtual time of a laptop, in microseconds: alone, and while the
// ranks compute for 60 of them.
#include <dist/dist.h>
#include <fmt/format.h>

int main() {
  const auto report = dist::sim::run({}, [](int rank) {
    dist::init_process_group();
    const dist::Tensor mine = dist::ones({128 * 1024});
    dist::Tensor theirs = dist::empty_like(mine);
    auto coming = dist::irecv(theirs, 1 - rank);
    dist::send(mine, 1 - rank);
    coming.wait();
  });
  const double swap_us = report.virtual_time_s * 1e6;
  fmt::print("swap {:.0f}\nboth {:.0f}\n", swap_us, swap_us + 60);
}
