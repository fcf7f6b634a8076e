// Misconception: a reduce to the server and a broadcast from it are a parameter server. (The result is
// right.)
//
// Killed by: Part5Server.every_message_has_the_server_at_one_end
// Diagnosis: collectives_for_a_server
#include "mutant.h"
#define train_with_server right_train_with_server
#include DIST_SOLUTION
#undef train_with_server

namespace lab {

void train_with_server(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    make_sums(gradients, samples);
    Tensor count = dist::tensor({static_cast<double>(samples)});
    dist::reduce(count, server);
    for (Tensor& gradient : gradients) dist::reduce(gradient, server);
    if (dist::get_rank() == server) {
      divide(gradients, count.item<double>());
      trainer.optimize(weights, gradients);
    }
    broadcast_weights(weights);
  }
}

}  // namespace lab
