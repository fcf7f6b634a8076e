// What one side did in a turn.
#pragma once

namespace distlab::bench {

struct TrainTurn {
  double step = 0, cpu = 0;  // the median step, in seconds; CPU time per step, of all threads
  double loss = 0;           // of the last step, before its update
  double peak_bytes = 0;     // the most memory that the process has had
};

}  // namespace distlab::bench
