// Misconception: the server only serves, and the gradients come from the other ranks.
//
// Killed by: Part5Server.as_one_rank
// Diagnosis: server_forgets_its_own
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
      if (dist::get_world_size() > 1) collect(gradients, 0);
      trainer.optimize(weights, gradients);
      hand_out(weights);
    } else {
      make_sums(gradients, samples);
      dist::send(dist::tensor({static_cast<double>(samples)}), server);
      send_all(gradients, server);
      recv_all(weights, server);
    }
  }
}

}  // namespace lab
