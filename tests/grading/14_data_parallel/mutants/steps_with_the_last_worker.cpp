// Misconception: the server takes the step when the last worker's gradients have arrived. (There may be no
// worker.)
//
// Killed by: Part5Server.as_one_rank
// Diagnosis: none
#include "mutant.h"
#define train_with_server right_train_with_server
#include DIST_SOLUTION
#undef train_with_server

namespace lab {

void train_with_server(Tensors& weights, int steps, const Trainer& trainer) {
  const int n = dist::get_world_size();
  const bool is_server = dist::get_rank() == server;
  Tensors gradients = zeros_like(weights), theirs = zeros_like(weights);
  is_server ? hand_out(weights) : recv_all(weights, server);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    make_sums(gradients, samples);
    Tensor count = dist::tensor({static_cast<double>(samples)});
    if (!is_server) {
      dist::send(count, server);
      send_all(gradients, server);
      recv_all(weights, server);
      continue;
    }
    auto all_samples = static_cast<double>(samples);
    for (int worker = 1; worker < n; ++worker) {
      dist::recv(count, worker);
      recv_all(theirs, worker);
      all_samples += count.item<double>();
      for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i].add_(theirs[i]);
      if (worker + 1 < n) continue;
      divide(gradients, all_samples);
      trainer.optimize(weights, gradients);
      hand_out(weights);
    }
  }
}

}  // namespace lab
