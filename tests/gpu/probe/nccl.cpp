// Will NCCL run two ranks on one GPU? It refuses equal (host, bus id) pairs; a distinct NCCL_HOSTID per
// rank makes them look like two hosts, which talk over sockets.
#include <cstdlib>

#include <nccl.h>

#include "gpu.h"
#include "probes.h"

namespace probe {
namespace {

void check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  throw Refused(text("%s: %s: %s", call, ncclGetErrorString(result), ncclGetLastError(nullptr)));
}
#define TRY_NCCL(call) check((call), #call)

void all_reduce(const Report& report, int rank, ncclComm_t comm, std::size_t count, int repeats) {
  Buffer buffer(count * sizeof(float));
  std::vector<float> host(count, static_cast<float>(rank + 1));
  Stream stream;
  TRY(cudaMemcpy(buffer.data(), host.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  const auto once = [&] {
    TRY_NCCL(ncclAllReduce(buffer.data(), buffer.data(), count, ncclFloat, ncclSum, comm, stream));
  };
  once();
  stream.synchronize();
  TRY(cudaMemcpy(host.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToHost));
  for (const float x : host) {
    if (x != 3.0f) throw Refused(text("the all-reduce gave %g instead of 3", static_cast<double>(x)));
  }
  const double start = now_us();
  for (int i = 0; i < repeats; ++i) once();
  stream.synchronize();
  const double us = (now_us() - start) / repeats;
  if (rank == 0) report.value(text("all-reduce of %zu KiB", buffer.bytes() / 1024), us, "us");
}

void two_ranks(const Report& report, bool distinct_hosts) {
  run_ranks(2, [&](int rank, Team& team) {
    setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    setenv("NCCL_IB_DISABLE", "1", 1);
    setenv("NCCL_NET_PLUGIN", "none", 1);
    unsetenv("NCCL_HOSTID");
    if (distinct_hosts) setenv("NCCL_HOSTID", text("probe-rank-%d", rank).c_str(), 1);
    use_device();
    auto* id = static_cast<ncclUniqueId*>(team.room(0));
    if (rank == 0) TRY_NCCL(ncclGetUniqueId(id));
    team.barrier();
    ncclComm_t comm = nullptr;
    const double start = now_us();
    TRY_NCCL(ncclCommInitRank(&comm, 2, *id, rank));
    if (rank == 0) report.value("ncclCommInitRank", (now_us() - start) / 1e3, "ms");
    all_reduce(report, rank, comm, 256, 50);
    all_reduce(report, rank, comm, std::size_t{16} << 20, 3);
    team.barrier();
    TRY_NCCL(ncclCommDestroy(comm));
  });
}

}  // namespace

void nccl_version(const Report& report) {
  int version = 0;
  TRY_NCCL(ncclGetVersion(&version));
  report.note(text("NCCL %d.%d.%d", version / 10000, version % 10000 / 100, version % 100));
}

void nccl_plain(const Report& report) { two_ranks(report, false); }
void nccl_hostid(const Report& report) { two_ranks(report, true); }

}  // namespace probe
