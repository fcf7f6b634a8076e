#include "distlab/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "dist/core/tensor.h"

namespace distlab::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the seconds per call on this rank. Only the calls are timed; the second barrier ensures that all of
// their work is done before the other side is measured.
double batch(Side& side, std::int64_t calls) {
  side.synchronise();
  const auto begin = Clock::now();
  side.run(calls);
  const std::chrono::duration<double> took = Clock::now() - begin;
  side.synchronise();
  return took.count() / static_cast<double>(calls);
}

// Goes around all buffers a few times, and again as long as the calls become faster. The first touch of a
// page by each rank costs time in the kernel and, in some virtual machines, in the host; and the part of a
// message that each rank copies may change. Returns the seconds per call.
double warm_up(Side& side, std::int64_t calls) {
  constexpr int fewest_rounds = 4, most_in_vain = 3;
  constexpr double gain = 0.95, patience_s = 0.5;
  double best = std::numeric_limits<double>::infinity(), spent = 0;
  int in_vain = 0;
  for (int round = 0; round < fewest_rounds || (in_vain < most_in_vain && spent < patience_s); ++round) {
    const double now = largest_of_all({batch(side, calls)})[0];
    spent += now * static_cast<double>(calls);
    in_vain = now < gain * best ? 0 : in_vain + 1;
    best = std::min(best, now);
  }
  return best;
}

// Warms up, and returns how many calls make a batch.
std::int64_t calls_of_batch(Side& side, const Effort& effort) {
  constexpr double batch_s = 0.01;
  constexpr std::int64_t fewest = 2, most = 1'000'000, pilot = 100;
  const double about = warm_up(side, effort.warm_up);
  if (effort.iterations > 0) return effort.iterations;
  const auto as_many = [&](double seconds) {
    return std::clamp(static_cast<std::int64_t>(batch_s / std::max(seconds, 1e-9)), fewest, most);
  };
  return as_many(largest_of_all({batch(side, std::min(as_many(about), pilot))})[0]);
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
