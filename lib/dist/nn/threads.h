// How many threads a layer's arithmetic on the CPU may use.
#pragma once

namespace dist::nn {

// Sets it for this process and everything that is computed from now on: n >= 1, otherwise throws
// Error{invalid_argument}. Initially 1, since ranks share the cores; more threads help a rank that has
// several cores to itself. Only convolutions and matrix products use more than one, and only with oneDNN.
void set_num_threads(int n);
int num_threads();

}  // namespace dist::nn
