#include "distlab/bench/measure.h"

#include <algorithm>
#include <chrono>

#include "dist/core/tensor.h"

namespace distlab::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds a call on this rank. Time is taken around the calls alone; the second barrier leaves nothing of
// them to be done while the other side is measured.
double batch(Side& side, std::int64_t calls) {
  side.synchronise();
  const auto begin = Clock::now();
  side.run(calls);
  const std::chrono::duration<double> took = Clock::now() - begin;
  side.synchronise();
  return took.count() / static_cast<double>(calls);
}

// Warms up, and finds out how many calls make a batch.
std::int64_t calls_of_batch(Side& side, const Effort& effort) {
  constexpr double batch_s = 0.01;
  constexpr std::int64_t fewest = 2, most = 1'000'000, pilot = 100;
  const double cold = largest_of_all({batch(side, effort.warm_up)})[0];
  if (effort.iterations > 0) return effort.iterations;
  const auto as_many = [&](double seconds) {
    return std::clamp(static_cast<std::int64_t>(batch_s / std::max(seconds, 1e-9)), fewest, most);
  };
  return as_many(largest_of_all({batch(side, std::min(as_many(cold), pilot))})[0]);
}

}  // namespace

std::vector<double> largest_of_all(const std::vector<double>& values) {
  dist::Tensor all = dist::tensor(std::span<const double>(values));
  dist::all_reduce(all, dist::ReduceOp::max);
  return all.to_vector<double>();
}

Measured measure(Side& ours, Side* peer, const Effort& effort) {
  Measured measured;
  measured.iterations = calls_of_batch(ours, effort);
  const std::int64_t peer_calls = peer ? calls_of_batch(*peer, effort) : 0;
  for (int i = 0; i < effort.repeats; ++i) {
    measured.ours.push_back(batch(ours, measured.iterations));
    if (peer) measured.peer.push_back(batch(*peer, peer_calls));
  }
  measured.ours = largest_of_all(measured.ours);
  if (peer) measured.peer = largest_of_all(measured.peer);
  return measured;
}

}  // namespace distlab::bench
