#include <algorithm>
#include <chrono>

#include "dist/core/device.h"
#include "dist/core/kernels.h"

#include "distlab/bench/measure.h"

namespace distlab::bench {

double device_bandwidth(dist::Device device, int ranks, int rounds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t bytes = std::int64_t{256} << 20;  // more than any last cache
  const std::int64_t each = bytes / ranks;                 // they may share one GPU
  constexpr int copies = 8;                                // so that launches do not count
  const dist::Tensor from = dist::zeros({each}, dist::DType::u8, device), to = from.clone();
  const auto finish = [&] {
    dist::device_api(device.type).synchronize(device, dist::current_stream(device));
  };
  std::vector<double> seconds;
  for (int i = 0; i <= rounds; ++i) {  // once to warm up
    finish();
    dist::barrier();
    const auto begin = Clock::now();
    for (int k = 0; k < copies; ++k) dist::copy(to.flat(), from.flat());
    finish();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const double best = std::ranges::min(largest_of_all(seconds));
  return 2.0 * static_cast<double>(each) * copies * ranks / best;
}

}  // namespace distlab::bench
