#include "dist/core/rank_label.h"

namespace dist {

CurrentRank& current_rank() {
  static thread_local CurrentRank current;
  return current;
}

}  // namespace dist
