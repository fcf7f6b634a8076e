#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/kernels.h"

#include "distlab/bench/measure.h"

namespace distlab::bench {

namespace {

// How many GPUs the ranks have together, and whether this rank is the first on its GPU.
struct Sharing {
  int devices;
  bool is_first;
};

Sharing sharing_of(dist::Device device) {
  const std::string mine = dist::device_api(device.type).bus_id(device);
  const std::vector<std::string> all = dist::all_gather_object(mine);
  const std::set<std::string> different(all.begin(), all.end());
  return {static_cast<int>(different.size()), std::ranges::find(all, mine) - all.begin() == dist::get_rank()};
}

}  // namespace

// Only one rank per GPU copies, because copies of processes that share a GPU would take turns.
double device_bandwidth(dist::Device device, int rounds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t bytes = std::int64_t{256} << 20;  // more than any last cache
  constexpr int copies = 8;                                // so that the cost of launches is small
  const Sharing sharing = sharing_of(device);
  dist::Tensor from, to;
  if (sharing.is_first) {
    from = dist::zeros({bytes}, dist::DType::u8, device);
    to = from.clone();
  }
  const auto finish = [&] {
    dist::device_api(device.type).synchronize(device, dist::current_stream(device));
  };
  std::vector<double> seconds;
  for (int i = 0; i <= rounds; ++i) {  // the first round warms up
    finish();
    dist::barrier();
    const auto begin = Clock::now();
    for (int k = 0; sharing.is_first && k < copies; ++k) dist::copy(to.flat(), from.flat());
    finish();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const double best = std::ranges::min(largest_of_all(seconds));
  return 2.0 * static_cast<double>(bytes) * copies * sharing.devices / best;
}

}  // namespace distlab::bench
