// Misconception: isend has copied the tensor when it returns.
//
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: changes_what_is_being_sent
#include "mutant.h"
#define stream_to right_stream_to
#include DIST_SOLUTION
#undef stream_to

namespace lab {

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  std::vector<Work> sent;
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    produce(i, block);
    sent.push_back(dist::isend(block, consumer));
  }
  wait_all(sent);
}

}  // namespace lab
