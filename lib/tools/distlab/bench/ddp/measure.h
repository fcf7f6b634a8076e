// Measures one number of ranks.
#pragma once

#include <filesystem>

#include "distlab/bench/ddp/row.h"

namespace distlab::bench {

// Starts `options.ranks` ranks, and beside each of them one of PyTorch's if the options say so, and leaves
// their figures in the folder, which is empty, and theirs. Errors of the ranks, as of dist::spawn;
// Error{internal} when PyTorch computes something else.
void measure_ddp(const DdpBenchOptions& options, const std::filesystem::path& folder);
// What it has left there. Error{resource} when there is nothing.
DdpRow read_row(const std::filesystem::path& folder);

}  // namespace distlab::bench
