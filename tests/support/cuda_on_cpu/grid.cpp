#include "support/cuda_on_cpu/grid.h"

#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "support/fiber.h"

namespace dist::test {

namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

// The fibers of one thread of the host. One of them runs thread after thread of a block; where one of those
// waits, the fiber stays with it and the next fiber goes on. So a kernel whose threads do not wait needs one
// fiber.
class Grid {
 public:
  ~Grid() {
    stops_ = true;
    for (const auto& worker : workers_) worker->fiber.resume();
  }

  void run(dim3 grid, dim3 block, const std::function<void()>& thread) {
    gridDim = grid;
    blockDim = block;
    thread_ = &thread;
    for (unsigned i = 0; i < grid.x; ++i) {
      blockIdx = dim3(in_order(i, grid.x));
      run_block();
    }
    from_the_end_ = std::popcount(++grids_) % 2 != 0;
  }

  void sync() {
    Worker& worker = *running_;
    worker.waits = true;
    worker.fiber.suspend();
  }

 private:
  struct Worker {
    explicit Worker(Grid& grid) : fiber(stack_bytes, [this, &grid] { grid.work(*this); }) {}
    Fiber fiber;
    dim3 at;             // the thread of the block that it runs
    bool waits = false;  // in sync()
  };

  unsigned in_order(unsigned i, unsigned n) const { return from_the_end_ ? n - 1 - i : i; }

  void work(Worker& worker) {
    while (!stops_) {
      while (begun_ < blockDim.x) {
        worker.at = threadIdx = dim3(in_order(begun_++, blockDim.x));
        (*thread_)();
        ++ended_;
      }
      worker.fiber.suspend();
    }
  }

  void resume(Worker& worker) {
    running_ = &worker;
    threadIdx = worker.at;
    worker.fiber.resume();
  }

  void run_block() {
    begun_ = ended_ = 0;
    for (std::size_t i = 0; begun_ < blockDim.x; ++i) {
      if (i == workers_.size()) workers_.push_back(std::make_unique<Worker>(*this));
      resume(*workers_[i]);
    }
    while (ended_ < blockDim.x) pass_barrier();
  }

  // All threads that have not ended wait.
  void pass_barrier() {
    if (ended_ > 0) {
      std::fprintf(stderr,
                   "%u of the %u threads of block %u have ended, the others wait in __syncthreads()\n",
                   ended_, blockDim.x, blockIdx.x);
      std::abort();
    }
    for (const auto& worker : workers_)
      if (std::exchange(worker->waits, false)) resume(*worker);
  }

  const std::function<void()>* thread_ = nullptr;
  unsigned begun_ = 0, ended_ = 0;  // threads of the block
  unsigned grids_ = 0;
  bool from_the_end_ = false;
  bool stops_ = false;
  Worker* running_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;
};

Grid& this_threads_grid() {
  thread_local Grid grid;
  return grid;
}

}  // namespace

void run_grid(dim3 grid, dim3 block, const std::function<void()>& thread) {
  this_threads_grid().run(grid, block, thread);
}

void sync_threads() { this_threads_grid().sync(); }

}  // namespace dist::test
