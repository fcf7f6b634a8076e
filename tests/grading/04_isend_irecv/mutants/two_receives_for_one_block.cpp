// Misconception: a stream has at least two blocks, so both receives can be started at once.
//
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: more_receives_than_messages
#include "mutant.h"
#define stream_from right_stream_from
#include DIST_SOLUTION
#undef stream_from

namespace lab {

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  std::array<Work, 2> coming;
  for (std::size_t i = 0; i < 2; ++i) coming[i] = dist::irecv(buffers[i], producer);
  for (int i = 0; i < blocks; ++i) {
    const auto place = static_cast<std::size_t>(i % 2);
    coming[place].wait();
    consume(i, buffers[place]);
    if (i + 2 < blocks) coming[place] = dist::irecv(buffers[place], producer);
  }
}

}  // namespace lab
