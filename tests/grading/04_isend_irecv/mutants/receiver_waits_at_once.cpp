// Misconception: a receive is started when its block is needed.
//
// Killed by: Part5Stream.as_long_as_its_slowest_part
// Diagnosis: receiver_waits_at_once
#include "mutant.h"
#define stream_from right_stream_from
#include DIST_SOLUTION
#undef stream_from

namespace lab {

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    dist::irecv(block, producer).wait();
    consume(i, block);
  }
}

}  // namespace lab
