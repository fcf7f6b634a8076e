// Running one algorithm on virtual ranks and counting what it cost.
#pragma once

#include <numeric>
#include <vector>

#include "dist/core/tensor.h"

#include "support/fiber_transport.h"

namespace dist::test {

inline const std::vector<int> all_n{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33};
inline constexpr std::int64_t elements = 1000, bytes = elements * 4;

template <class Body>  // body(net, data)
FiberReport run(int n, Body body, std::int64_t count = elements) {
  return run_fibers(n, [&](Transport& net) {
    Tensor data = ones({count});
    body(net, data.flat());
  });
}

inline std::int64_t chunk_bytes(int i, int n) {
  TensorView all{nullptr, elements, DType::f32, cpu};
  return static_cast<std::int64_t>(chunk(all, mod(i, n), n).bytes());
}

inline std::vector<TensorView> chunks_of(const TensorView& all, int n) {
  std::vector<TensorView> chunks;
  for (int i = 0; i < n; ++i) chunks.push_back(chunk(all, i, n));
  return chunks;
}

inline std::int64_t total_messages(const FiberReport& report) {
  return std::accumulate(report.ranks.begin(), report.ranks.end(), std::int64_t{0},
                         [](std::int64_t sum, const RankTraffic& r) { return sum + r.messages_sent; });
}

}  // namespace dist::test
