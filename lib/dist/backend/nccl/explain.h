// What NCCL's own errors mean, and what to do about them.
#pragma once

#include <string>
#include <string_view>

namespace dist::nccl {

// "ncclCommInitRankConfig: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000; ...". `said`:
// the last line that NCCL has about it.
std::string explain(std::string_view call, std::string_view result, std::string_view said);

}  // namespace dist::nccl
