// Measures one number of ranks.
#pragma once

#include <filesystem>

#include "distlab/bench/ddp/row.h"

namespace distlab::bench {

// Starts so many ranks, and beside each of them one of PyTorch's if the options say so. The folder is empty,
// and theirs. Errors of the ranks, as of dist::spawn; Error{internal} when PyTorch computes something else.
DdpRow measure_ddp(const DdpBenchOptions& options, int ranks, const std::filesystem::path& folder);

}  // namespace distlab::bench
