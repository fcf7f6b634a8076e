// logger.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::Tensor loss = dist::ones({1});
  if (rank == 0) dist::all_reduce(loss);  // <- D2
  dist::barrier();                        // <- D2
}

void right_main(int rank) {
  dist::init_process_group();
  dist::Tensor loss = dist::ones({1});
  dist::all_reduce(loss);
  if (rank == 0) loss.div_(2);  // the if is not around a collective
  dist::barrier();
}
