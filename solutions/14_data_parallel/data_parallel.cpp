// Lab 14, the solution. NOTES.md explains it.
#include "data_parallel.h"

namespace lab {

using dist::Tensor;

namespace {

constexpr int server = 0;

Tensors zeros_like(const Tensors& tensors) {
  Tensors zeros;
  for (const Tensor& t : tensors) zeros.push_back(dist::zeros_like(t));
  return zeros;
}

// Turns means over samples into sums. A mean over no samples may hold anything; the sum is 0.
void make_sums(Tensors& gradients, std::int64_t samples) {
  for (Tensor& gradient : gradients) {
    if (samples == 0) gradient.zero_();
    gradient.mul_(static_cast<double>(samples));
  }
}

void divide(Tensors& gradients, double by) {
  for (Tensor& gradient : gradients) gradient.div_(by);
}

void send_all(const Tensors& tensors, int to) {
  for (const Tensor& t : tensors) dist::send(t, to);
}

void recv_all(Tensors& tensors, int from) {
  for (Tensor& t : tensors) dist::recv(t, from);
}

void hand_out(const Tensors& weights) {
  for (int worker = 1; worker < dist::get_world_size(); ++worker) send_all(weights, worker);
}

// On the server: receives the workers' gradients. Its own become the means over all samples.
void collect(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  Tensors theirs = zeros_like(gradients);
  Tensor count = dist::zeros({1}, dist::DType::f64);
  auto all_samples = static_cast<double>(samples);
  for (int worker = 1; worker < dist::get_world_size(); ++worker) {
    dist::recv(count, worker);
    recv_all(theirs, worker);
    all_samples += count.item<double>();
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i].add_(theirs[i]);
  }
  divide(gradients, all_samples);
}

}  // namespace

void broadcast_weights(Tensors& weights) {
  for (Tensor& weight : weights) dist::broadcast(weight, 0);
}

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) dist::all_reduce(gradient, dist::ReduceOp::avg);
}

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  Tensor count = dist::tensor({static_cast<double>(samples)});
  dist::all_reduce(count);
  for (Tensor& gradient : gradients) dist::all_reduce(gradient);
  divide(gradients, count.item<double>());
}

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    average_over_samples(gradients, samples);
    trainer.optimize(weights, gradients);
  }
}

void train_with_server(Tensors& weights, int steps, const Trainer& trainer) {
  const bool is_server = dist::get_rank() == server;
  Tensors gradients = zeros_like(weights);
  is_server ? hand_out(weights) : recv_all(weights, server);
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
