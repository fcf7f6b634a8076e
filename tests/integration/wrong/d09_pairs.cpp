// pairs.cpp
#include "dist/dist.h"

void rank_main(int rank) {  // 3 ranks
  dist::init_process_group();
  dist::ProcessGroup with_next = dist::new_group({rank, (rank + 1) % 3});  // <- D9
  dist::barrier({.group = with_next});
}

void right_main(int) {
  dist::init_process_group();
  std::vector<dist::ProcessGroup> pairs;
  for (int rank = 0; rank < 3; ++rank) pairs.push_back(dist::new_group({rank, (rank + 1) % 3}));
  for (const dist::ProcessGroup& pair : pairs)
    if (pair.is_member()) dist::barrier({.group = pair});
}
