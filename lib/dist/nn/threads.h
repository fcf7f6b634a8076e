// How many threads a layer's arithmetic on the CPU may use.
#pragma once

namespace dist::nn {

// Of this process, for all that is computed from now on: n >= 1, otherwise Error{invalid_argument}. 1 at
// first, since ranks share the cores; more help a rank that has several to itself. Only convolutions and
// matrix products take more than one, and only with oneDNN.
void set_num_threads(int n);
int num_threads();

}  // namespace dist::nn
