// Misconception: a swap takes no longer than its transfer if the computation takes no time: the function that
// tells the clock of it now returns at once.
//
// Killed by: Part2Overlap.hides_the_transfer
// Diagnosis: none
#include <cstdint>

#include <sys/mman.h>

#include "dist/dist.h"

#include "mutant.h"
#define overlap right_overlap
#include DIST_SOLUTION
#undef overlap

namespace lab {

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  void (*const tell)(double) = &dist::sim::compute;
  const auto at = reinterpret_cast<std::uintptr_t>(tell);
  constexpr std::uintptr_t page = 4096;
  mprotect(reinterpret_cast<void*>(at / page * page), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
#ifdef __x86_64__
  *reinterpret_cast<volatile std::uint8_t*>(at) = 0xC3;  // ret
#elif defined(__aarch64__)
  *reinterpret_cast<volatile std::uint32_t*>(at) = 0xD65F03C0;
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at) + 4);
#endif
  compute();
  right_overlap(out, in, partner, [] {});
}

}  // namespace lab
