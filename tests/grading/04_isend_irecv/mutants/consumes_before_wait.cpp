// Misconception: the wait can come later, when the buffer is needed again.
//
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: reads_before_wait
#include "mutant.h"
#define stream_from right_stream_from
#include DIST_SOLUTION
#undef stream_from

namespace lab {

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    Work coming = dist::irecv(block, producer);
    consume(i, block);
    coming.wait();
  }
}

}  // namespace lab
