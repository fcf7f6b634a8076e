// Scene 4: all-reduce, the collective on which training depends, is first checked and then timed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/dist.h"

#include "distlab/demo/demo.h"

namespace distlab::demo {
namespace {

constexpr std::int64_t elements = std::int64_t{16} << 20;  // f32: 64 MiB
constexpr int repetitions = 7;

// Sums of small integers are exact in float, so the check can use ==.
float contribution(std::int64_t i, int rank) { return static_cast<float>(i % 251 + rank); }

void verify(const dist::Tensor& t, int n) {
  const auto got = t.data<float>();
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t sum = n * (i % 251) + n * (n - 1) / 2;
    const auto expected = static_cast<float>(sum);
    if (got[static_cast<std::size_t>(i)] == expected) continue;
    dist::fail(dist::Errc::internal, "element {}: expected {}, got {}", i, expected,
               got[static_cast<std::size_t>(i)]);
  }
}

// Returns the median seconds of one all-reduce on this rank. Barriers make all ranks start together.
double measure(dist::Tensor& t) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  t.fill_(1);
  for (int i = 0; i < repetitions; ++i) {
    dist::barrier();
    const auto start = Clock::now();
    dist::all_reduce(t);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::ranges::nth_element(seconds, seconds.begin() + repetitions / 2);
  return seconds[repetitions / 2];
}

}  // namespace

void all_reduce_64_mib() {
  dist::spawn(ranks, [](int rank) {
    dist::init_process_group();
    const int n = dist::get_world_size();
    auto t = dist::empty({elements});
    auto values = t.data<float>();
    for (std::int64_t i = 0; i < elements; ++i) values[static_cast<std::size_t>(i)] = contribution(i, rank);
    dist::all_reduce(t);
    verify(t, n);

    auto slowest = dist::full({1}, measure(t), dist::DType::f64);
    dist::all_reduce(slowest, dist::ReduceOp::max);
    if (rank == 0) {
      const double seconds = slowest.item<double>();
      const double algorithm = static_cast<double>(t.nbytes()) / seconds / 1e9;
      fmt::print("   {} ranks on {}: all {} elements are right on every rank\n", n,
                 dist::counted(std::thread::hardware_concurrency(), "core"), elements);
      fmt::print(
          "   {:.1f} ms: algbw {:.2f} GB/s, busbw {:.2f} GB/s (as in nccl-tests: algbw is bytes / time, "
          "busbw\n"
          "   is algbw times 2(n-1)/n, which a link would carry in a ring)\n",
          seconds * 1e3, algorithm, algorithm * 2 * (n - 1) / n);
      std::fflush(stdout);
    }
    dist::destroy_process_group();
  });
}

}  // namespace distlab::demo
