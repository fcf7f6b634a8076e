// Interleaved 1F1B.
#include <algorithm>

#include "dist/parallel/pipeline/rounds.h"
#include "dist/parallel/pipeline/schedule.h"

namespace dist::pipeline {
namespace {

struct Piece {  // of a rank's work: one micro-batch on one of its chunks
  int chunk, micro_batch;
};

// In which order every rank runs its pieces forward, or backward.
std::vector<Piece> in_rounds(const Shape& shape, bool backward) {
  std::vector<Piece> order;
  for (int round = 0, all = rounds(shape); round < all; ++round)
    for (int chunk = 0; chunk < shape.chunks; ++chunk)
      for (int j = shape.micro_batches * round / all; j < shape.micro_batches * (round + 1) / all; ++j)
        order.push_back({backward ? shape.chunks - 1 - chunk : chunk, j});
  return order;
}

}  // namespace

Schedule interleaved(int ranks, int micro_batches, int chunks) {
  if (chunks == 1) return one_f_one_b(ranks, micro_batches);
  Schedule schedule{{ranks, micro_batches, chunks}, {}};
  const auto forwards = in_rounds(schedule.shape, false), backwards = in_rounds(schedule.shape, true);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& actions = schedule.ranks.emplace_back();
    const auto run = [&](ActionKind kind, Piece piece) {
      actions.push_back({kind, piece.chunk * ranks + rank, piece.micro_batch});
    };
    const auto ahead = static_cast<std::size_t>(warm_up(schedule.shape, rank));
    for (std::size_t i = 0; i < ahead; ++i) run(ActionKind::forward, forwards[i]);
    for (std::size_t i = 0; i < backwards.size(); ++i) {
      if (i + ahead < forwards.size()) run(ActionKind::forward, forwards[i + ahead]);
      run(ActionKind::backward, backwards[i]);
    }
  }
  return schedule;
}

}  // namespace dist::pipeline
