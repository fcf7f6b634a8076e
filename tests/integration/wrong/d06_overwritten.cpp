// overwritten.cpp
#include "dist/dist.h"

void rank_main(int) {  // 2 ranks
  dist::init_process_group();
  std::vector<dist::Tensor> layers{dist::ones({4}), dist::ones({8})};
  dist::Work work;
  for (dist::Tensor& layer : layers) work = dist::broadcast(layer, 0, {.async_op = true});  // <- D6
  work.wait();                                                                              // of the last one
}

void right_main(int) {
  dist::init_process_group();
  std::vector<dist::Tensor> layers{dist::ones({4}), dist::ones({8})};
  std::vector<dist::Work> works;
  for (dist::Tensor& layer : layers) works.push_back(dist::broadcast(layer, 0, {.async_op = true}));
  for (dist::Work& work : works) work.wait();
}
