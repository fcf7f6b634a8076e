// seeds.cpp
#include "dist/dist.h"
#include "dist/parallel/shard/fully_shard.h"

void rank_main(int rank) {  // 2 ranks
  dist::init_process_group();
  dist::nn::manual_seed(100 + rank);
  dist::nn::Linear layer(4, 4);
  dist::fully_shard(layer);  // <- D13
}

void right_main(int rank) {
  dist::init_process_group();
  dist::nn::manual_seed(100);
  dist::nn::Linear layer(4, 4);
  dist::fully_shard(layer);
  dist::nn::manual_seed(100 + rank);  // what comes later, dropout for instance, may be each rank's own
}
