// distlab bench --calibrate: the figures of this machine, measured by two ranks and kept in a file.
#pragma once

namespace distlab::bench {

// Starts two ranks that measure messages, sums and memory that both have mapped; fits the cost model to what
// they found, saves it (dist::cost_model_path()) and prints it. Error{invalid_argument}: the file cannot be
// written, or there is no place for it.
void calibrate();

}  // namespace distlab::bench
