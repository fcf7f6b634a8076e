// What backend = "auto" means: nccl when every rank has a GPU of its own, cuda when ranks share one, else
// host.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dist/core/types.h"

namespace dist {

// The device of a rank for which no device was named: its position among the ranks of its host, modulo the
// GPUs there. The CPU where there is no GPU; then `why`, unless it is null, gets the reason.
Device default_device(int local_rank, std::string* why = nullptr);

// What the other ranks must know about one rank's devices.
struct RankDevice {
  std::string gpu;     // equal for two ranks of the job only if they share a GPU; empty: none
  bool nccl = false;   // whether NCCL can be used
  std::string reason;  // why the GPU or NCCL is missing; one line

  std::string str() const;  // one line
  static RankDevice from(std::string_view line);
};
RankDevice local_device(int host, int local_rank);

struct BackendChoice {
  std::string_view backend;
  std::string reason;  // for DIST_LOG=info
};
// Returns the same on every rank.
BackendChoice choose_backend(std::span<const RankDevice> by_rank);

}  // namespace dist
