// Misconception: two trees are never slower than one, so one tree need not be considered. (Where they take
// equally long, it comes first.)
//
// Killed by: Part3Choose.on_one_node
// Diagnosis: last_of_equals
#include "mutant.h"
#define choose right_choose
#include DIST_SOLUTION
#undef choose

namespace lab {

Algorithm choose(const Machine& machine, double bytes) {
  const Algorithm best = right_choose(machine, bytes);
  return best == Algorithm::tree ? Algorithm::double_tree : best;
}

}  // namespace lab
