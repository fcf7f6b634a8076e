// The rank that runs on this thread, for messages only (log lines, errors). -1 when none is set.
#pragma once

namespace dist {

int current_rank_label();
void set_current_rank_label(int rank);  // this thread only

}  // namespace dist
