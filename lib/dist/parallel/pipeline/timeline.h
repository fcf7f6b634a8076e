// When each computation of a schedule begins and ends, if all times are known: a schedule without ranks.
#pragma once

#include <vector>

#include "dist/parallel/pipeline/schedule.h"

namespace dist::pipeline {

// The times of one micro-batch on one stage, in any unit.
struct StageTimes {
  double forward = 1;
  double backward_input = 1;
  double backward_weight = 1;

  double of(ActionKind kind) const;  // 0 for messages
  double all() const { return forward + backward_input + backward_weight; }
};

struct Times {
  std::vector<StageTimes> stages;  // one per stage, or one for all
  double latency = 0;              // from the end of a computation until its result is on another rank

  const StageTimes& of(int stage) const;
};

struct Timeline {
  std::vector<std::vector<TimedAction>> ranks;
  double total = 0;   // the end of the last computation
  double bubble = 0;  // the fraction of all ranks' time in which they do not compute, 0 to 1
};

// A computation begins when its rank has ended the one before and what it needs has arrived. Messages leave
// as soon as there is something to send, and cost no time of the rank: so it makes no difference where, or
// whether, the schedule has them.
// Throws Error{invalid_argument} if `times` has another number of stages than the schedule, or if the
// schedule is wrong in a way that leaves a computation without what it needs. check() finds all mistakes.
Timeline run(const Schedule& schedule, const Times& times);

}  // namespace dist::pipeline
