// Misconception: introduce() is a program of its own, which must leave the group at its end.
//
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: leaves_again
#include "mutant.h"
#define introduce right_introduce
#include DIST_SOLUTION
#undef introduce

namespace lab {

std::string introduce() {
  const auto text = right_introduce();
  dist::destroy_process_group();
  return text;
}

}  // namespace lab
