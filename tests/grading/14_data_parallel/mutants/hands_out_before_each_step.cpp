// Misconception: the server sends the weights when a step begins, and the last ones after the last step.
// (There may be no step.)
//
// Killed by: Part5Server.as_one_rank
// Diagnosis: no_first_broadcast
#include "mutant.h"
#define train_with_server right_train_with_server
#include DIST_SOLUTION
#undef train_with_server

namespace lab {

void train_with_server(Tensors& weights, int steps, const Trainer& trainer) {
  const bool is_server = dist::get_rank() == server;
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    is_server ? hand_out(weights) : recv_all(weights, server);
    const auto samples = trainer.compute(step, weights, gradients);
    if (is_server) {
      collect(gradients, samples);
      trainer.optimize(weights, gradients);
    } else {
      make_sums(gradients, samples);
      dist::send(dist::tensor({static_cast<double>(samples)}), server);
      send_all(gradients, server);
    }
    if (step + 1 < steps) continue;
    is_server ? hand_out(weights) : recv_all(weights, server);
  }
}

}  // namespace lab
