// Misconception: the number of ranks is the number of the last rank.
//
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: last_rank_as_world_size
#include "mutant.h"
#define introduce right_introduce
#include DIST_SOLUTION
#undef introduce

namespace lab {

std::string introduce() {
  dist::init_process_group();
  return fmt::format("rank {} of {}", dist::get_rank(), dist::get_world_size() - 1);
}

}  // namespace lab
