// distlab bench --calibrate: measures the figures of this machine with two ranks, and saves them in a file.
#pragma once

namespace distlab::bench {

// Starts two ranks that measure messages, sums and memory that both have mapped. Fits the cost model to the
// results, saves it (dist::cost_model_path()) and prints it. Throws Error{invalid_argument} when there is no
// path for the file, or it cannot be written.
void calibrate();

}  // namespace distlab::bench
