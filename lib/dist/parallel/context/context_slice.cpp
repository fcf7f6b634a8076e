#include "dist/parallel/context/context_slice.h"

#include "dist/core/axes.h"
#include "dist/core/view.h"

namespace dist {

ContextSlice::Runs ContextSlice::runs(int rank) const {
  const auto part = [this](int i, int n) {
    const std::int64_t first = chunk_begin(tokens, i, n);
    return nn::Position::Run{first, chunk_begin(tokens, i + 1, n) - first};
  };
  if (!balanced) return {part(rank, ranks)};
  return {part(rank, 2 * ranks), part(2 * ranks - 1 - rank, 2 * ranks)};
}

std::int64_t ContextSlice::count(int rank) const {
  std::int64_t count = 0;
  for (const auto& run : runs(rank)) count += run.count;
  return count;
}

std::int64_t ContextSlice::scores(int rank) const {
  std::int64_t scores = 0;
  for (const auto& run : runs(rank))
    for (std::int64_t i = run.first; i < run.first + run.count; ++i) scores += i + 1;
  return scores;
}

Tensor ContextSlice::slice(const Tensor& whole, int rank) const {
  std::vector<Tensor> parts;
  for (const auto& run : runs(rank)) parts.push_back(narrow(whole, 1, run.first, run.count));
  return parts.size() == 1 ? parts[0].clone() : cat(parts, 1);
}

}  // namespace dist
