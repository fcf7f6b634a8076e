// Every probe, by file. Each answers one question that the GPU transport's design rests on.
#pragma once

#include "harness.h"

namespace probe {

// device.cu
bool find_gpu(std::string* why);  // run it isolated: it touches CUDA
void device_and_versions(const Report&);
void context_cost(const Report&);
// mapping.cu
void ipc_mapping(const Report&);
void killed_exporter(const Report&);
void vmm_mapping(const Report&);
void registered_memfd(const Report&);
// signals.cu
void stream_flags(const Report&);
void stream_flags_and_host(const Report&);
void ipc_events(const Report&);
void killed_waiter(const Report&);
// sharing.cu
void spinning_neighbour(const Report&);
void waiting_neighbour(const Report&);
void busy_neighbour(const Report&);
void handoff(const Report&);
void thread_ranks_overlap(const Report&);
void process_ranks_overlap(const Report&);
// copies.cu
void device_copies(const Report&);
void host_copies(const Report&);
// nccl.cpp, or no_nccl.cpp in a build without NCCL
void nccl_version(const Report&);
void nccl_plain(const Report&);
void nccl_hostid(const Report&);

}  // namespace probe
