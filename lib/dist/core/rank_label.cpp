#include "dist/core/rank_label.h"

namespace dist {

namespace {
thread_local int label = -1;
}

int current_rank_label() { return label; }
void set_current_rank_label(int rank) { label = rank; }

}  // namespace dist
