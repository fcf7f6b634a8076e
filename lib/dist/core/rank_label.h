// The rank that runs on this thread. A rank that is a fiber carries its own: the simulator exchanges it at
// every switch.
#pragma once

namespace dist {

struct CurrentRank {
  int label = -1;           // for messages only (log lines, errors); -1: not set
  void* context = nullptr;  // group/rank_context.h; null: the process's
};
CurrentRank& current_rank();

inline int current_rank_label() { return current_rank().label; }
inline void set_current_rank_label(int rank) { current_rank().label = rank; }  // this thread only

}  // namespace dist
