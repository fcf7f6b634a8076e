// The measurement for one number of ranks.
#pragma once

#include <filesystem>

#include "distlab/bench/ddp/row.h"

namespace distlab::bench {

// Starts `options.ranks` ranks, and beside each of them one of PyTorch's if the options say so. Writes their
// figures to the folder, which must be empty. Throws what dist::spawn throws, and Error{internal} when
// PyTorch computes another loss.
void measure_ddp(const DdpBenchOptions& options, const std::filesystem::path& folder);
// Returns the figures in the folder. Throws Error{resource} when there are none.
DdpRow read_row(const std::filesystem::path& folder);

}  // namespace distlab::bench
