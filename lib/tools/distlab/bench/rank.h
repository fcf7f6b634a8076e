// The work of every rank of a bench.
#pragma once

#include "distlab/bench/options.h"

namespace distlab::bench {

// Joins the job, measures, and on rank 0 prints the table and writes the files. Returns an exit code, which
// is exit_failed if results were wrong. With a peer, errors end the whole job.
int run_rank(const BenchOptions& options);

}  // namespace distlab::bench
