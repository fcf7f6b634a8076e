// Misconception: the loop waits for every block, because it waits before it uses a buffer again. The last
// blocks' buffers are not used again.
//
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: forgets_a_wait
#include "mutant.h"
#define stream_to right_stream_to
#include DIST_SOLUTION
#undef stream_to

namespace lab {

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  std::array<Work, 2> sent;
  for (int i = 0; i < blocks; ++i) {
    const auto place = static_cast<std::size_t>(i % 2);
    sent[place].wait();
    produce(i, buffers[place]);
    sent[place] = dist::isend(buffers[place], consumer);
  }
}

}  // namespace lab
