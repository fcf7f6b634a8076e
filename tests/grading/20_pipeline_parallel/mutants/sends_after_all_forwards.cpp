// Misconception: first a rank computes, then it communicates.
//
// Killed by: Part3Step.the_bubble
// Diagnosis: computes_before_it_sends
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<dist::P2P> held;
  std::vector<dist::Work> works;
  const auto release = [&] {
    for (const dist::Work& work : dist::batch_isend_irecv(held)) works.push_back(work);
    held.clear();
  };
  const auto m = std::ssize(batch.samples);
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind kind) {
        held.push_back({dist::P2P::isend, t, peer});
        if (kind == Kind::backward || std::ssize(held) == m) release();
      },
      [](dist::Tensor& t, int peer, Kind) { dist::recv(t, peer); });
  for (auto& work : works) work.wait();
  return loss;
}

}  // namespace lab
