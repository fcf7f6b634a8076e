// Misconception: an isend followed by a wait is always right.
//
// Killed by: Part5Stream.as_long_as_its_slowest_part
// Diagnosis: sender_waits_at_once
#include "mutant.h"
#define stream_to right_stream_to
#include DIST_SOLUTION
#undef stream_to

namespace lab {

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    produce(i, block);
    dist::isend(block, consumer).wait();
  }
}

}  // namespace lab
