// Misconception: the server must know at which weights a gradient was computed.
//
// Killed by: Part5Server.every_message_has_the_server_at_one_end
// Diagnosis: sends_weights_too
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
      Tensors theirs = zeros_like(weights);
      for (int worker = 1; worker < dist::get_world_size(); ++worker) recv_all(theirs, worker);
      trainer.optimize(weights, gradients);
      hand_out(weights);
    } else {
      make_sums(gradients, samples);
      dist::send(dist::tensor({static_cast<double>(samples)}), server);
      send_all(gradients, server);
      send_all(weights, server);
      recv_all(weights, server);
    }
  }
}

}  // namespace lab
