// Misconception: a received activation is used at once, so one tensor is enough for all of them. (Forward
// keeps it for backward.)
//
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: overwrites_what_forward_keeps
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto most = std::ranges::max(batch.samples);
  const dist::Tensor inbox = dist::empty({most, stage.inputs}, dist::DType::f64);
  std::vector<std::pair<dist::Tensor, dist::Work>> sends;
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) { sends.emplace_back(t, dist::isend(t, peer)); },
      [&](dist::Tensor& t, int peer, Kind kind) {
        if (kind == Kind::forward) t = inbox.narrow(0, t.size(0));
        dist::recv(t, peer);
      });
  for (auto& [tensor, work] : sends) work.wait();
  return loss;
}

}  // namespace lab
