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

constexpr std::size_t longest_id = 32;

// How many GPUs the ranks have together, and whether this is the first rank on its own.
struct Sharing {
  int devices = 0;
  bool is_first = false;
};

Sharing sharing_of(dist::Device device) {
  const std::string id = dist::device_api(device.type).bus_id(device);
  dist::Tensor mine = dist::zeros({longest_id}, dist::DType::u8, dist::cpu);
  id.copy(reinterpret_cast<char*>(mine.data<std::uint8_t>().data()), longest_id);
  std::vector<dist::Tensor> all;
  for (int r = 0; r < dist::get_world_size(); ++r) all.push_back(dist::zeros_like(mine));
  dist::all_gather(all, mine);
  std::set<std::string> known;
  Sharing sharing;
  for (int r = 0; r < dist::get_world_size(); ++r) {
    const auto bytes = all[static_cast<std::size_t>(r)].data<std::uint8_t>();
    const bool is_new = known.emplace(bytes.begin(), bytes.end()).second;
    if (r == dist::get_rank()) sharing.is_first = is_new;
  }
  sharing.devices = static_cast<int>(known.size());
  return sharing;
}

}  // namespace

// The copies of processes that share a GPU would take turns, and the turns would count.
double device_bandwidth(dist::Device device, int rounds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t bytes = std::int64_t{256} << 20;  // more than any last cache
  constexpr int copies = 8;                                // so that launches do not count
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
  for (int i = 0; i <= rounds; ++i) {  // once to warm up
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
