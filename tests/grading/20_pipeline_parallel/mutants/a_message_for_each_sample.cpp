// Misconception: samples are independent of each other, so they travel one by one.
//
// Killed by: Part3Step.one_message_per_boundary
// Diagnosis: sends_too_much
#include "mutant.h"
#define step right_step
#include DIST_SOLUTION
#undef step

namespace lab {

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<std::pair<dist::Tensor, dist::Work>> sends;
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) {
        for (std::int64_t i = 0; i < t.size(0); ++i) {
          const dist::Tensor row = t.narrow(i, 1);
          sends.emplace_back(row, dist::isend(row, peer));
        }
      },
      [](dist::Tensor& t, int peer, Kind) {
        for (std::int64_t i = 0; i < t.size(0); ++i) {
          dist::Tensor row = t.narrow(i, 1);
          dist::recv(row, peer);
        }
      });
  for (auto& [tensor, work] : sends) work.wait();
  return loss;
}

}  // namespace lab
