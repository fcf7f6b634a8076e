// Misconception: gradients are used as they arrive, one step for each, so that the server does not have to
// wait.
//
// Killed by: Part5Server.takes_the_step_alone
// Diagnosis: a_step_for_each_worker
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
      trainer.optimize(weights, gradients);
      Tensor count = dist::zeros({1}, dist::DType::f64);
      for (int worker = 1; worker < dist::get_world_size(); ++worker) {
        dist::recv(count, worker);
        recv_all(gradients, worker);
        if (count.item<double>() > 0) divide(gradients, count.item<double>());
        trainer.optimize(weights, gradients);
      }
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
