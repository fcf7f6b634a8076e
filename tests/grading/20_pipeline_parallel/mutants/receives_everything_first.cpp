// Misconception: receives can wait, so all of them are started before the first computation.
//
// Killed by: Part3Step.one_batch_between_computations
// Diagnosis: starts_messages_early_or_late
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  std::vector<std::pair<dist::Tensor, dist::Work>> sends, arrivals;
  for (const auto& [kind, j] : actions) {
    const bool is_forward = kind == Kind::forward;
    if (rank == (is_forward ? 0 : last)) continue;
    dist::Tensor box =
        dist::empty({batch.samples[static_cast<std::size_t>(j)], is_forward ? stage.inputs : stage.outputs},
                    dist::DType::f64);
    arrivals.emplace_back(box, dist::irecv(box, is_forward ? rank - 1 : rank + 1));
  }
  std::size_t next = 0;
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) { sends.emplace_back(t, dist::isend(t, peer)); },
      [&](dist::Tensor& t, int, Kind) {
        t = arrivals[next].first;
        arrivals[next++].second.wait();
      });
  for (auto& [tensor, work] : sends) work.wait();
  return loss;
}

}  // namespace lab
