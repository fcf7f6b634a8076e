// A kernel's grid on one thread of the host. What a GPU leaves open is tried both ways: every other grid of a
// thread runs its blocks, and the threads of each, from the last to the first. The threads of a block are
// fibers, so that they can wait for each other.
#pragma once

#include <functional>

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// As CUDA names them: the position in the grid of the thread that runs now.
inline constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace dist::test {

// Calls `thread` for every thread of the grid, of one axis each. It must not throw.
void run_grid(dim3 grid, dim3 block, const std::function<void()>& thread);

// Within a grid: waits until every thread of the block has reached this point. Ends the process where some of
// them have ended instead, which CUDA does not allow.
void sync_threads();

}  // namespace dist::test
