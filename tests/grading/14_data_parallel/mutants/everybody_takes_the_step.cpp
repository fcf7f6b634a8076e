// Misconception: the server averages the gradients and sends them back, and then each rank takes the step.
//
// Killed by: Part5Server.takes_the_step_alone
// Diagnosis: everybody_takes_the_step
#include "mutant.h"
#define train_with_server right_train_with_server
#include DIST_SOLUTION
#undef train_with_server

namespace lab {

void train_with_server(Tensors& weights, int steps, const Trainer& trainer) {
  const bool is_server = dist::get_rank() == server;
  Tensors gradients = zeros_like(weights);
  is_server ? hand_out(weights) : recv_all(weights, server);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    if (is_server) {
      collect(gradients, samples);
      hand_out(gradients);
    } else {
      make_sums(gradients, samples);
      dist::send(dist::tensor({static_cast<double>(samples)}), server);
      send_all(gradients, server);
      recv_all(gradients, server);
    }
    trainer.optimize(weights, gradients);
  }
}

}  // namespace lab
