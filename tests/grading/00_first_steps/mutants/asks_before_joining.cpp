// Misconception: the launcher has numbered the processes, so they know their numbers without joining a group.
//
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: asks_before_joining
#include "mutant.h"
#define introduce right_introduce
#include DIST_SOLUTION
#undef introduce

namespace lab {

std::string introduce() { return fmt::format("rank {} of {}", dist::get_rank(), dist::get_world_size()); }

}  // namespace lab
