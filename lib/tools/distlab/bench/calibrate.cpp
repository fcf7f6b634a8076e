#include "distlab/bench/calibrate.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>

#include "dist/collectives/cost/cost_model_file.h"
#include "dist/collectives/cost/fit.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"
#include "dist/group/process_group.h"
#include "dist/launch/spawn.h"

#include "distlab/bench/explain.h"
#include "distlab/bench/measure.h"
#include "distlab/terminal.h"

namespace distlab::bench {
namespace {

using Clock = std::chrono::steady_clock;
using What = dist::Measurement::What;

constexpr int repeats = 9;
constexpr std::int64_t mib = 1 << 20;
// The range of sizes that matter, with more small ones, because most messages are small.
constexpr std::int64_t all_bytes[] = {8, 64, 512, 4096, 32768, 262144, 2 * mib, 8 * mib};
constexpr std::int64_t least_for_sums = 4096;  // below, the cost of the call itself dominates

// Returns how many calls take some milliseconds together.
int calls_for(std::int64_t bytes) {
  constexpr std::int64_t most = 400, bytes_together = 32 * mib;
  return static_cast<int>(std::clamp<std::int64_t>(bytes_together / bytes, 4, most));
}

// Returns the seconds per call on the slowest rank, in the best repetition, which other processes disturbed
// least.
double seconds_of(int calls, const std::function<void()>& all_calls) {
  all_calls();  // warm
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    dist::barrier();
    const auto begin = Clock::now();
    all_calls();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count() / calls);
  }
  return std::ranges::min(largest_of_all(seconds));
}

double one_way(std::int64_t bytes) {
  dist::Tensor tensor = dist::zeros({bytes}, dist::DType::u8);
  const int rank = dist::get_rank(), calls = calls_for(bytes);
  const double both_ways = seconds_of(calls, [&] {
    for (int i = 0; i < calls; ++i) {
      if (rank == 0) dist::send(tensor, 1);
      dist::recv(tensor, 1 - rank);
      if (rank == 1) dist::send(tensor, 0);
    }
  });
  return both_ways / 2;
}

// Measures messages that follow each other, all in flight at the same time.
double burst(std::int64_t bytes) {
  const int rank = dist::get_rank(), calls = std::min(calls_for(bytes), 64);
  std::vector<dist::Tensor> tensors;
  for (int i = 0; i < calls; ++i) tensors.push_back(dist::zeros({bytes}, dist::DType::u8));
  return seconds_of(calls, [&] {
    std::vector<dist::Work> works;
    works.reserve(tensors.size());
    for (auto& tensor : tensors) works.push_back(rank == 0 ? dist::isend(tensor, 1) : dist::irecv(tensor, 0));
    for (auto& work : works) work.wait();
  });
}

double sum(std::int64_t bytes) {
  const std::int64_t elements = bytes / 4;
  dist::Tensor into = dist::zeros({elements}), from = dist::ones({elements});
  const int calls = calls_for(bytes);
  return seconds_of(calls, [&] {
    for (int i = 0; i < calls; ++i) dist::reduce(into.flat(), from.flat(), dist::ReduceOp::sum);
  });
}

// The memory that the two ranks share: a flag per rank, on a cache line of its own, and a buffer per rank.
struct Shared {
  static constexpr std::size_t most_bytes = 8 * mib;
  struct alignas(64) Flag {
    std::atomic<std::uint32_t> round{0};
  };
  Flag flags[2];
  alignas(64) std::byte data[2][most_bytes];
};

// It is made before the ranks are forked, so that both have it.
class SharedMemory {
 public:
  SharedMemory()
      : memory_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) dist::fail_errno(dist::Errc::resource, errno, "--calibrate: mmap");
    new (memory_) Shared;
  }
  ~SharedMemory() { munmap(memory_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared& operator*() const { return *static_cast<Shared*>(memory_); }

 private:
  void* memory_;
};

void wait_for(const Shared::Flag& flag, std::uint32_t round) {
  constexpr int spins = 2000;  // some microseconds; after that, the other rank may need this core
  for (int i = 0; static_cast<std::int32_t>(flag.round.load(std::memory_order_acquire) - round) < 0; ++i)
    if (i >= spins) std::this_thread::yield();
}

// Both ranks meet, then each copies the other's buffer: one synchronisation, then each byte is read and
// written.
double mapped(Shared& shared, std::int64_t bytes) {
  const auto rank = static_cast<std::size_t>(dist::get_rank());
  const int calls = calls_for(bytes);
  std::vector<std::byte> mine(static_cast<std::size_t>(bytes));
  return seconds_of(calls, [&] {
    for (int i = 0; i < calls; ++i) {
      const std::uint32_t round = shared.flags[rank].round.load(std::memory_order_relaxed) + 1;
      shared.flags[rank].round.store(round, std::memory_order_release);
      wait_for(shared.flags[1 - rank], round);
      std::memcpy(mine.data(), shared.data[1 - rank], mine.size());
    }
  });
}

std::vector<dist::Measurement> measure_everything(Shared& shared) {
  std::vector<dist::Measurement> measurements;
  const auto add = [&](What what, std::int64_t bytes, double seconds) {
    measurements.push_back({what, static_cast<double>(bytes), seconds});
  };
  std::memset(shared.data[dist::get_rank()], 1, Shared::most_bytes);
  for (const std::int64_t bytes : all_bytes) {
    add(What::one_way, bytes, one_way(bytes));
    add(What::burst, bytes, burst(bytes));
    add(What::mapped, 2 * bytes, mapped(shared, bytes));
    if (bytes >= least_for_sums) add(What::reduce, bytes, sum(bytes));
  }
  return measurements;
}

}  // namespace

void calibrate() {
  const auto path = dist::cost_model_path(only_tcp());
  if (path.empty())
    dist::fail(dist::Errc::invalid_argument,
               "--calibrate has no folder for its file; set DIST_COST_MODEL to a path");
  const SharedMemory shared;
  dist::spawn(2, [&](int rank) {
    dist::init_process_group({.backend = "host"});
    const auto measurements = measure_everything(*shared);
    if (rank == 0) dist::save_cost_model(dist::fit(measurements, dist::round_figures(only_tcp())), path);
    dist::destroy_process_group();
  });
  fmt::print("Measured on this machine, with two ranks:\n{}.\nSaved in {}.\n",
             paragraphs(figures_of(dist::known_costs(only_tcp()).model)), path.string());
}

}  // namespace distlab::bench
