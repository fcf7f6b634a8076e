// Misconception: calling a collective once more does no harm.
//
// Killed by: Part5Exchange.every_rank_reads_every_text
// Diagnosis: several_collectives
#include "mutant.h"
#define exchange right_exchange
#include DIST_SOLUTION
#undef exchange

namespace lab {

std::vector<std::string> exchange(const std::string& text, std::int64_t size) {
  right_exchange(text, size);
  return right_exchange(text, size);
}

}  // namespace lab
