// Misconception: the number of ranks is a constant of the program.
//
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: fixed_world_size
#include "mutant.h"
#define introduce right_introduce
#include DIST_SOLUTION
#undef introduce

namespace lab {

std::string introduce() {
  dist::init_process_group();
  return fmt::format("rank {} of {}", dist::get_rank(), 4);
}

}  // namespace lab
