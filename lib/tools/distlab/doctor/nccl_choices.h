// What NCCL chooses on this machine, in its own words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "distlab/doctor/doctor.h"

namespace distlab {

struct NcclChoices {
  // The pairs of ranks that are connected in one way, as "0->1"; a rank has a GPU of its own.
  struct Way {
    std::string name;  // "P2P/CUMEM", "SHM/direct", "NET/IB"
    std::vector<std::string> pairs;
  };
  std::string network;             // between hosts: "IB", "Socket"; empty: NCCL has not said
  std::vector<Way> ways;           // in the order of their first pairs
  std::vector<std::string> table;  // latency (us) and bandwidth (GB/s) by which NCCL chooses an algorithm
};

// `log`: what all ranks print with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,P2P,SHM,NET,TUNING.
NcclChoices nccl_choices(std::string_view log);
Finding explain(const NcclChoices& choices);

struct NcclAnswer {
  Finding finding;
  std::string table;  // several lines; empty: none
};
// Has one rank per GPU call an all_reduce by NCCL, which takes seconds.
NcclAnswer ask_nccl(std::size_t gpus);

}  // namespace distlab
