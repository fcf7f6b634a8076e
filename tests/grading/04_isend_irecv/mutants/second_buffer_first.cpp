// Misconception: two buffers are two buffers, so a stream may begin with either of them.
//
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: wrong_buffer
#include "mutant.h"
#define stream_from right_stream_from
#include DIST_SOLUTION
#undef stream_from

namespace lab {

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  std::swap(buffers[0], buffers[1]);
  right_stream_from(producer, buffers, blocks, consume);
}

}  // namespace lab
