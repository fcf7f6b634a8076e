// What every rank of a bench does.
#pragma once

#include "distlab/bench/options.h"

namespace distlab::bench {

// Joins the job, measures, and on rank 0 prints the table and writes the files. Returns an exit code; when
// results were wrong that of a failure. With a peer, errors end the whole job.
int run_rank(const BenchOptions& options);

}  // namespace distlab::bench
