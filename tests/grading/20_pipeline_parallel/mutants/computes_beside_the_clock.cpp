// Misconception: a step is fast if its computations take no time: the function that tells the clock of them
// now returns at once.
//
// Killed by: Part3Step.the_bubble
// Diagnosis: none
#include <cstdint>

#include <sys/mman.h>

#include "dist/dist.h"

#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  void (*const compute)(double) = &dist::sim::compute;
  const auto at = reinterpret_cast<std::uintptr_t>(compute);
  constexpr std::uintptr_t page = 4096;
  mprotect(reinterpret_cast<void*>(at / page * page), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
#ifdef __x86_64__
  *reinterpret_cast<volatile std::uint8_t*>(at) = 0xC3;  // ret
#elif defined(__aarch64__)
  *reinterpret_cast<volatile std::uint32_t*>(at) = 0xD65F03C0;
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at) + 4);
#endif
  return right_step(actions, batch, stage);
}

}  // namespace lab
