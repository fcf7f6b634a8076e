// Misconception: the weights come from the server after the first step anyway.
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
    const auto samples = trainer.compute(step, weights, gradients);
    if (is_server) {
      collect(gradients, samples);
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
