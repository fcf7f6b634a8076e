// Misconception: where a block is produced makes no difference, if it is copied before it is sent.
//
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: wrong_buffer
#include "mutant.h"
#define stream_to right_stream_to
#include DIST_SOLUTION
#undef stream_to

namespace lab {

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  Work sent;
  for (int i = 0; i < blocks; ++i) {
    produce(i, buffers[0]);
    sent.wait();
    buffers[1].copy_(buffers[0]);
    sent = dist::isend(buffers[1], consumer);
  }
  sent.wait();
}

}  // namespace lab
