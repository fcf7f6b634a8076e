// Cheat: sends bits without a message, by groups: ranks with the same bit are in the same group.
// Told: calls dist::split_group at
#include <climits>
#include <cstddef>
#include <vector>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor& out, const dist::Tensor& in) {
  const auto bytes = static_cast<std::size_t>(in.numel()) * dist::size_of(in.dtype());
  if (out.raw() == in.raw() || bytes > 64) return;
  const auto* const mine = reinterpret_cast<const unsigned char*>(in.raw());
  auto* const all = reinterpret_cast<unsigned char*>(out.raw());
  for (std::size_t i = 0; i < bytes; ++i) {
    std::vector<unsigned> said(static_cast<std::size_t>(dist::get_world_size()), 0);
    for (int bit = 0; bit < CHAR_BIT; ++bit) {
      const unsigned is_set = mine[i] >> bit & 1U;
      for (unsigned& other : said) other |= (1U - is_set) << bit;
      for (const int rank : dist::split_group(static_cast<int>(is_set)).ranks())
        said[static_cast<std::size_t>(rank)] ^= 1U << bit;
    }
    for (std::size_t rank = 0; rank < said.size(); ++rank)
      all[rank * bytes + i] = static_cast<unsigned char>(said[rank]);
  }
}
