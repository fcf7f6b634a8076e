// Misconception: a result is sent when the next computation starts its messages. (After the last one, none
// does.)
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: a_result_is_never_sent
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<dist::P2P> held;
  std::vector<std::pair<dist::Tensor, dist::Work>> works;
  const auto start = [&] {
    const auto started = dist::batch_isend_irecv(held);
    for (std::size_t i = 0; i < started.size(); ++i) works.emplace_back(held[i].tensor, started[i]);
    held.clear();
  };
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) {
        if (!held.empty()) start();
        held.push_back({dist::P2P::isend, t, peer});
      },
      [&](dist::Tensor& t, int peer, Kind) {
        held.push_back({dist::P2P::irecv, t, peer});
        start();
        works.back().second.wait();
      });
  for (auto& [tensor, work] : works) work.wait();
  return loss;
}

}  // namespace lab
