// Misconception: the first rank is rank 1.
//
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: counts_from_one
#include "mutant.h"
#define introduce right_introduce
#include DIST_SOLUTION
#undef introduce

namespace lab {

std::string introduce() {
  dist::init_process_group();
  return fmt::format("rank {} of {}", dist::get_rank() + 1, dist::get_world_size());
}

}  // namespace lab
