// Misconception: a copy of each block is safe, and memory is cheap.
//
// Killed by: Part5Stream.two_buffers_are_enough
// Diagnosis: more_than_two_buffers
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
    sent.push_back(dist::isend(block.clone(), consumer));
  }
  wait_all(sent);
}

}  // namespace lab
