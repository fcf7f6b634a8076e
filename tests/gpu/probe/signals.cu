// How can one rank's stream wait for another rank's, without a kernel that spins?
#include <signal.h>

#include "dist/core/device/stream_flag.h"

#include "kernels.cuh"
#include "probes.h"

namespace probe {
namespace {

constexpr int queued_rounds = 500, single_rounds = 200;

// Two 64-bit flags, one for each direction, in shared registered memory, driven by stream memory operations.
class Flags {
 public:
  explicit Flags(const SharedFile& file)
      : memory_(file),
        write_(driver<PFN_cuStreamWriteValue64_v11070>("cuStreamWriteValue64")),
        wait_(driver<PFN_cuStreamWaitValue64_v11070>("cuStreamWaitValue64")) {}

  void write(cudaStream_t stream, int flag, std::uint64_t value) {
    TRY(write_(stream, address(flag), value, CU_STREAM_WRITE_VALUE_DEFAULT));
  }
  void wait(cudaStream_t stream, int flag, std::uint64_t value) {
    TRY(wait_(stream, address(flag), value, CU_STREAM_WAIT_VALUE_GEQ));
  }
  std::atomic<std::uint64_t>& host(int flag) {  // a cache line each
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<char*>(memory_.host()) + flag * 64);
  }

 private:
  CUdeviceptr address(int flag) const {
    return reinterpret_cast<CUdeviceptr>(memory_.device()) + static_cast<CUdeviceptr>(flag) * 64;
  }
  RegisteredMemory memory_;
  PFN_cuStreamWriteValue64_v11070 write_;
  PFN_cuStreamWaitValue64_v11070 wait_;
};

// A counter in rank 0's device memory that both ranks' kernels advance in turn; it proves the order.
class Turns {
 public:
  Turns(int rank, Team& team) : rank_(rank) {
    auto* handle = static_cast<cudaIpcMemHandle_t*>(team.room(0));
    if (rank == 0) {
      TRY(cudaMalloc(&turn_, 4096));
      TRY(cudaMemset(turn_, 0, 4096));
      TRY(cudaDeviceSynchronize());
      TRY(cudaIpcGetMemHandle(handle, turn_));
    }
    team.barrier();
    if (rank == 1) TRY(cudaIpcOpenMemHandle(&turn_, *handle, cudaIpcMemLazyEnablePeerAccess));
    team.barrier();
  }
  void take(cudaStream_t stream, int round) {
    auto* ints = static_cast<int*>(turn_);
    take_turn<<<1, 1, 0, stream>>>(ints, 2 * round + rank_, ints + 1);
    TRY(cudaGetLastError());
  }
  void expect(int rounds) {
    int result[2] = {};
    TRY(cudaMemcpy(result, turn_, sizeof result, cudaMemcpyDeviceToHost));
    if (result[0] != 2 * rounds || result[1] != 0) {
      throw Refused(text("order broken: %d of %d turns, %d out of order", result[0], 2 * rounds, result[1]));
    }
  }

 private:
  int rank_;
  void* turn_ = nullptr;
};

void expect_turns(int rank, Team& team, Turns& turns, int rounds) {
  team.barrier();
  if (rank == 0) turns.expect(rounds);
  team.barrier();
}

}  // namespace

void stream_flags(const Report& report) {
  SharedFile file(4096);
  run_ranks(2, [&](int rank, Team& team) {
    use_device();
    Flags flags(file);
    Turns turns(rank, team);
    Stream stream;
    int round = 0;
    const auto exchange = [&] {  // rank 0 goes first; each waits for the other's flag on its stream
      const auto value = static_cast<std::uint64_t>(++round);
      if (rank == 1) flags.wait(stream, 0, value);
      turns.take(stream, round - 1);
      flags.write(stream, rank, value);
      if (rank == 0) flags.wait(stream, 1, value);
    };
    exchange();
    stream.synchronize();
    team.barrier();
    double start = now_us();
    for (int i = 0; i < queued_rounds; ++i) exchange();
    stream.synchronize();
    if (rank == 0) report.value("round trip, all queued ahead", (now_us() - start) / queued_rounds, "us");
    team.barrier();
    start = now_us();
    for (int i = 0; i < single_rounds; ++i) {
      exchange();
      stream.synchronize();
    }
    if (rank == 0) report.value("round trip, host waits for each", (now_us() - start) / single_rounds, "us");
    expect_turns(rank, team, turns, round);
  });
}

// The watchdog releases a waiting stream by a plain store; the host sees a stream's write by a plain load.
void stream_flags_and_host(const Report& report) {
  use_device();
  SharedFile file(4096);
  Flags flags(file);
  Stream stream;
  double release_us = 0, notice_us = 0;
  for (int i = 1; i <= single_rounds; ++i) {
    const auto value = static_cast<std::uint64_t>(i);
    flags.wait(stream, 0, value);
    usleep(200);
    if (cudaStreamQuery(stream) != cudaErrorNotReady) throw Refused("the wait did not wait");
    double start = now_us();
    flags.host(0).store(value);
    stream.synchronize();
    release_us += now_us() - start;
    start = now_us();
    flags.write(stream, 1, value);
    while (flags.host(1).load() != value) {
    }
    notice_us += now_us() - start;
    stream.synchronize();
  }
  report.value("host store to stream done", release_us / single_rounds, "us");
  report.value("enqueue a write to host sees it", notice_us / single_rounds, "us");
}

void ipc_events(const Report& report) {
  run_ranks(2, [&](int rank, Team& team) {
    use_device();
    Turns turns(rank, team);
    Stream stream;
    Event mine(cudaEventInterprocess | cudaEventDisableTiming);
    TRY(cudaIpcGetEventHandle(static_cast<cudaIpcEventHandle_t*>(team.room(rank)), mine));
    team.barrier();
    cudaEvent_t theirs = nullptr;
    TRY(cudaIpcOpenEventHandle(&theirs, *static_cast<cudaIpcEventHandle_t*>(team.room(1 - rank))));
    team.barrier();
    // A peer's event may only be waited on after it was recorded: the host says so, through shared memory.
    const auto exchange = [&](int round) {
      const auto follow = [&] {
        team.wait_for([&] { return team.counter(1 - rank).load() > round; });
        TRY(cudaStreamWaitEvent(stream, theirs, 0));
      };
      if (rank == 1) follow();
      turns.take(stream, round);
      TRY(cudaEventRecord(mine, stream));
      team.counter(rank) = round + 1;
      if (rank == 0) follow();
    };
    exchange(0);
    stream.synchronize();
    team.barrier();
    const double start = now_us();
    for (int i = 1; i <= queued_rounds; ++i) exchange(i);
    stream.synchronize();
    if (rank == 0) report.value("round trip, host handshake", (now_us() - start) / queued_rounds, "us");
    expect_turns(rank, team, turns, queued_rounds + 1);
  });
}

// A rank is killed while its stream waits: does the survivor's GPU work go on, and can its own wait be
// released?
void killed_waiter(const Report& report) {
  SharedFile file(4096);
  const auto dies = [](int rank) { return rank == 0; };
  run_ranks(
      2,
      [&](int rank, Team& team) {
        use_device();
        Flags flags(file);
        Stream stream;
        flags.wait(stream, rank, 1);  // it will never be written
        team.barrier();
        if (dies(rank)) raise(SIGKILL);
        usleep(500000);
        const double start = now_us();
        Stream other;
        work<<<1, 32, 0, other>>>(1000, nullptr);
        other.synchronize();
        report.value("survivor's kernel after the death", now_us() - start, "us");
        const double release = now_us();
        flags.host(rank).store(dist::released_flag);
        stream.synchronize();
        report.value("survivor's wait released by its host", now_us() - release, "us");
      },
      dies);
}

}  // namespace probe
