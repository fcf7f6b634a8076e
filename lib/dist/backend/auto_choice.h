// What backend = "auto" means: nccl when every rank has a GPU of its own, cuda when ranks share one, else
// host.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dist/core/types.h"

namespace dist {

// The device of a rank that nobody told which to take: its place among the ranks of its host, modulo the GPUs
// there. The CPU where there is none; then `why`, unless it is null, gets the reason.
Device default_device(int local_rank, std::string* why = nullptr);

// What one rank has, as the others must know it.
struct RankDevice {
  std::string gpu;     // the same for two ranks only if they share it, in the whole job; empty: none
  bool nccl = false;   // NCCL can be used
  std::string reason;  // why one of them is missing; one line

  std::string str() const;  // one line
  static RankDevice from(std::string_view line);
};
RankDevice local_device(int host, int local_rank);

struct BackendChoice {
  std::string_view backend;
  std::string reason;  // for DIST_LOG=info
};
// The same on every rank.
BackendChoice choose_backend(std::span<const RankDevice> by_rank);

}  // namespace dist
