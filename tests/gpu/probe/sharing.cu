// What do ranks that share one GPU cost each other?
#include <algorithm>
#include <thread>

#include "kernels.cuh"
#include "probes.h"

namespace probe {
namespace {

constexpr double kernel_us = 20;
constexpr int samples = 300;

struct Spread {
  double median, p95, mean;
};

// Latency of one short kernel, launch to synchronise.
Spread kernel_latency(long steps) {
  Stream stream;
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const double start = now_us();
    work<<<1, 32, 0, stream>>>(steps, nullptr);
    stream.synchronize();
    times.push_back(now_us() - start);
  }
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const double t : times) sum += t;
  return {times[samples / 2], times[samples * 95 / 100], sum / samples};
}

void tell(const Report& report, const std::string& when, const Spread& spread) {
  report.value("20 us kernel, " + when + ": median", spread.median, "us");
  report.value("20 us kernel, " + when + ": mean", spread.mean, "us");
  report.value("20 us kernel, " + when + ": 95 %", spread.p95, "us");
}

// Rank 1 measures its kernels alone, then while rank 0 does `disturb` (which returns when counter 0 is not 0
// any more, and has set counter 1 when it is under way).
void measure_beside(const Report& report, const char* when, const std::function<void(Team&)>& disturb) {
  run_ranks(2, [&](int rank, Team& team) {
    use_device();
    const long steps = rank == 1 ? steps_for(kernel_us) : 0;
    if (rank == 1) tell(report, "alone", kernel_latency(steps));
    team.barrier();
    if (rank == 0) {
      disturb(team);
    } else {
      team.wait_for([&] { return team.counter(1).load() != 0; });
      tell(report, when, kernel_latency(steps));
      team.counter(0) = 1;
    }
    team.barrier();
  });
}

// Spins until the host says stop, at most `limit` clock ticks.
__global__ void spin(volatile int* stop, volatile int* running, long long limit) {
  *running = 1;
  __threadfence_system();
  for (const long long start = clock64(); *stop == 0 && clock64() - start < limit;) {
  }
}

}  // namespace

void spinning_neighbour(const Report& report) {
  measure_beside(report, "neighbour spins", [](Team& team) {
    int* flags = nullptr;  // stop, running
    TRY(cudaHostAlloc(reinterpret_cast<void**>(&flags), 128, cudaHostAllocMapped));
    flags[0] = flags[16] = 0;
    Stream stream;
    spin<<<1, 1, 0, stream>>>(flags, flags + 16, 20'000'000'000LL);
    TRY(cudaGetLastError());
    team.wait_for([&] { return const_cast<volatile int&>(flags[16]) != 0; });
    team.counter(1) = 1;
    team.wait_for([&] { return team.counter(0).load() != 0; });
    const_cast<volatile int&>(flags[0]) = 1;
    stream.synchronize();
  });
}

void waiting_neighbour(const Report& report) {
  SharedFile file(4096);
  measure_beside(report, "neighbour's stream waits", [&](Team& team) {
    RegisteredMemory memory(file);
    Stream stream;
    TRY(driver<PFN_cuStreamWaitValue64_v11070>("cuStreamWaitValue64")(
        stream, reinterpret_cast<CUdeviceptr>(memory.device()), 1, CU_STREAM_WAIT_VALUE_GEQ));
    work<<<1, 32, 0, stream>>>(1000, nullptr);  // work enqueued after the wait, as in a collective
    usleep(10000);
    team.counter(1) = 1;
    team.wait_for([&] { return team.counter(0).load() != 0; });
    static_cast<std::atomic<std::uint64_t>*>(memory.host())->store(1);
    stream.synchronize();
  });
}

void busy_neighbour(const Report& report) {
  measure_beside(report, "neighbour runs the same", [](Team& team) {
    const long steps = steps_for(kernel_us);
    Stream stream;
    team.counter(1) = 1;
    while (team.counter(0).load() == 0) {
      for (int i = 0; i < 20; ++i) work<<<1, 32, 0, stream>>>(steps, nullptr);
      stream.synchronize();
    }
  });
}

// Kernel of rank 0, then of rank 1, then of rank 0, ..., the host passing the turn.
void handoff(const Report& report) {
  constexpr int rounds = 300;
  run_ranks(2, [&](int rank, Team& team) {
    use_device();
    const long steps = steps_for(kernel_us);
    if (rank == 0) tell(report, "alone", kernel_latency(steps));
    Stream stream;
    team.barrier();
    const double start = now_us();
    for (int i = 0; i < rounds; ++i) {
      team.wait_for([&] { return team.counter(0).load() == 2 * i + rank; });
      work<<<1, 32, 0, stream>>>(steps, nullptr);
      stream.synchronize();
      team.counter(0) = 2 * i + rank + 1;
    }
    team.barrier();
    if (rank == 0) report.value("20 us kernel, alternating", (now_us() - start) / (2 * rounds), "us");
  });
}

namespace {

constexpr int ranks = 4;
constexpr double long_kernel_us = 5000;

double run_long_kernel(long steps) {
  Stream stream;
  work<<<1, 32, 0, stream>>>(1, nullptr);
  stream.synchronize();
  const double start = now_us();
  work<<<1, 32, 0, stream>>>(steps, nullptr);
  stream.synchronize();
  return now_us() - start;
}

void tell_overlap(const Report& report, double alone, double together) {
  report.value("one 5 ms kernel of one block", alone / 1e3, "ms");
  report.value("four of them, one per rank", together / 1e3, "ms");
  report.value("overlap (4: all at once, 1: in sequence)", ranks * alone / together, "x");
}

}  // namespace

void thread_ranks_overlap(const Report& report) {
  use_device();
  const long steps = steps_for(long_kernel_us);
  const double alone = run_long_kernel(steps);
  std::vector<std::thread> threads;
  std::atomic<int> ready{0}, failed{0};
  std::vector<double> starts(ranks), ends(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        TRY(cudaSetDevice(chosen_device));
        Stream stream;
        ++ready;
        while (ready.load() < ranks) std::this_thread::yield();
        starts[rank] = now_us();
        work<<<1, 32, 0, stream>>>(steps, nullptr);
        stream.synchronize();
        ends[rank] = now_us();
      } catch (const Refused&) {
        ++failed, ++ready;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (failed.load() != 0) throw Refused("a thread could not use the device");
  tell_overlap(report, alone,
               *std::max_element(ends.begin(), ends.end()) - *std::min_element(starts.begin(), starts.end()));
}

void process_ranks_overlap(const Report& report) {
  run_ranks(ranks, [&](int rank, Team& team) {
    use_device();
    const long steps = rank == 0 ? steps_for(long_kernel_us) : 0;
    auto* shared = static_cast<long*>(team.room(0));
    const double alone = rank == 0 ? run_long_kernel(steps) : 0;
    if (rank == 0) *shared = steps;
    Stream stream;
    work<<<1, 32, 0, stream>>>(1, nullptr);
    stream.synchronize();
    team.barrier();
    const double start = now_us();
    work<<<1, 32, 0, stream>>>(*shared, nullptr);
    stream.synchronize();
    team.barrier();
    if (rank == 0) tell_overlap(report, alone, now_us() - start);
  });
}

}  // namespace probe
