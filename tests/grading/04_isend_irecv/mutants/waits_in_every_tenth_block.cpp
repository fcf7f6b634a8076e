// Misconception: all sends are waited for now and then, so that not too many are under way.
//
// Killed by: Part5Stream.as_long_as_its_slowest_part
// Diagnosis: none
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
    if (i % 10 == 9) sent[place].wait();
  }
  wait_all(sent);
}

}  // namespace lab
