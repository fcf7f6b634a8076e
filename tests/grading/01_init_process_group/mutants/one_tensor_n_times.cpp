// Misconception: n copies of a Tensor are n tensors. They are n names for one piece of memory, as with
// PyTorch's [t] * n.
//
// Killed by: Part5Exchange.every_rank_reads_every_text
// Diagnosis: one_tensor_n_times
#include "mutant.h"
#define exchange right_exchange
#include DIST_SOLUTION
#undef exchange

namespace lab {

std::vector<std::string> exchange(const std::string& text, std::int64_t size) {
  const auto world_size = static_cast<std::size_t>(dist::get_world_size());
  std::vector<dist::Tensor> gathered(world_size, dist::empty({size}, dist::DType::u8));
  dist::all_gather(gathered, pack(text, size));
  std::vector<std::string> texts;
  for (const auto& packed : gathered) texts.push_back(unpack(packed));
  return texts;
}

}  // namespace lab
