// Wrong answers to lab 14, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <vector>

#include "data_parallel.h"

//// broadcasts_twice
// Misconception: to be sure, the weights are sent once more.
// Replaces: broadcast_weights
// Killed by: Part1Weights.each_sent_once
// Diagnosis: none

void broadcast_weights(Tensors& weights) {
  right_broadcast_weights(weights);
  right_broadcast_weights(weights);
}

//// first_weights_averaged
// Misconception: the best first weights are the mean of all ranks' first weights.
// Replaces: broadcast_weights
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: means_in_place_of_rank_0

void broadcast_weights(Tensors& weights) {
  for (Tensor& weight : weights) dist::all_reduce(weight, dist::ReduceOp::avg);
}

//// new_tensors_for_the_weights
// Misconception: weights is an output, so new tensors may be put into it.
// Replaces: broadcast_weights
// Killed by: Part1Weights.in_place
// Diagnosis: not_in_place

void broadcast_weights(Tensors& weights) {
  for (Tensor& weight : weights) {
    Tensor received = weight.clone();
    dist::broadcast(received, 0);
    weight = received;
  }
}

//// the_first_tensor_only
// Misconception: one broadcast sends all weights.
// Replaces: broadcast_weights
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: first_tensor_only

void broadcast_weights(Tensors& weights) { dist::broadcast(weights[0], 0); }

//// the_same_seed_will_do
// Misconception: all ranks create their weights with the same program, so the weights are the same. (They are
// only with the same seed and the same libraries, and as long as no rank loads a checkpoint.)
// Replaces: broadcast_weights
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: every_rank_keeps_its_own

void broadcast_weights(Tensors& weights) { (void)weights; }

//// weights_are_sent_once
// Misconception: a program begins once, so the weights are sent once.
// Replaces: broadcast_weights
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: keeps_something

void broadcast_weights(Tensors& weights) {
  static bool is_first = true;
  if (is_first) right_broadcast_weights(weights);
  is_first = false;
}

//// divides_twice
// Misconception: all_reduce always sums, whatever the operation, so I divide afterwards.
// Replaces: average_gradients
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: divides_twice

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    dist::all_reduce(gradient, dist::ReduceOp::avg);
    gradient.div_(dist::get_world_size());
  }
}

//// f64_through_f32
// Misconception: gradients are f32. The last digits of an f64 are lost on the way.
// Replaces: average_gradients
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: f64_through_f32

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    Tensor mean = gradient.to(dist::DType::f32);
    dist::all_reduce(mean, dist::ReduceOp::avg);
    gradient.copy_(mean);
  }
}

//// gathers_to_average
// Misconception: a mean needs all the numbers, so every rank gathers them. (The result is right.)
// Replaces: average_gradients
// Killed by: Part2Average.each_sent_once
// Diagnosis: gathers_everything_to_average

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    Tensors all(static_cast<std::size_t>(dist::get_world_size()));
    for (Tensor& one : all) one = dist::empty_like(gradient);
    dist::all_gather(all, gradient);
    gradient.zero_();
    for (const Tensor& one : all) gradient.add_(one);
    gradient.div_(dist::get_world_size());
  }
}

//// skips_zero_gradients
// Misconception: a gradient that is zero adds nothing, so it need not be sent.
// Replaces: average_gradients
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: leaves_the_others_waiting

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    const auto numbers = gradient.to_vector<double>();
    if (std::ranges::all_of(numbers, [](double number) { return number == 0; })) continue;
    dist::all_reduce(gradient, dist::ReduceOp::avg);
  }
}

//// sum_without_average
// Misconception: n ranks together have n times the batch, so their gradients are added.
// Replaces: average_gradients
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: sums_without_averaging

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) dist::all_reduce(gradient);
}

//// a_count_for_each_tensor
// Misconception: every tensor is averaged by itself, together with its number of samples.
// Replaces: average_over_samples
// Killed by: Part3Samples.in_place_and_each_sent_once
// Diagnosis: a_count_for_each_tensor

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  for (Tensor& gradient : gradients) {
    Tensor count = dist::tensor({static_cast<double>(samples)});
    dist::all_reduce(count);
    dist::all_reduce(gradient);
    gradient.div_(count.item<double>());
  }
}

//// counts_in_f32
// Misconception: a number of samples is small, so f32 holds it. (Not all whole numbers beyond 2^24.)
// Replaces: average_over_samples
// Killed by: Part3Samples.uneven_parts
// Diagnosis: f64_through_f32

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  Tensor count = dist::tensor({static_cast<float>(samples)});
  dist::all_reduce(count);
  for (Tensor& gradient : gradients) dist::all_reduce(gradient);
  divide(gradients, count.item<double>());
}

//// divides_by_the_ranks
// Misconception: each gradient is multiplied by its number of samples, and then the sum is divided by the
// number of ranks.
// Replaces: average_over_samples
// Killed by: Part3Samples.uneven_parts
// Diagnosis: divides_by_the_ranks

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  average_gradients(gradients);
}

//// divides_integers
// Misconception: the part of this rank is samples / total.
// Replaces: average_over_samples
// Killed by: Part3Samples.uneven_parts
// Diagnosis: integer_division

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  Tensor count = dist::full({1}, samples, dist::DType::i64);
  dist::all_reduce(count);
  const auto total = count.item<std::int64_t>();
  for (Tensor& gradient : gradients) {
    if (samples == 0) gradient.zero_();
    gradient.mul_(static_cast<double>(samples / total));
    dist::all_reduce(gradient);
  }
}

//// keeps_the_total
// Misconception: the number of all samples stays as it is, so it is asked for once.
// Replaces: average_over_samples
// Killed by: Part3Samples.uneven_parts
// Diagnosis: keeps_something

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  static double total = 0;
  if (total == 0) {
    Tensor count = dist::full({1}, static_cast<double>(samples), dist::DType::f64);
    dist::all_reduce(count);
    total = count.item<double>();
  }
  for (Tensor& gradient : gradients) {
    if (samples == 0) gradient.zero_();
    gradient.mul_(static_cast<double>(samples) / total);
    dist::all_reduce(gradient);
  }
}

//// leaves_without_samples
// Misconception: a rank without samples has nothing to contribute and does not have to call.
// Replaces: average_over_samples
// Killed by: Part3Samples.a_rank_without_samples
// Diagnosis: leaves_the_others_waiting

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  if (samples == 0) return;
  right_average_over_samples(gradients, samples);
}

//// mean_of_means
// Misconception: every rank has a mean, and the overall mean is the mean of these.
// Replaces: average_over_samples
// Killed by: Part3Samples.uneven_parts
// Diagnosis: mean_of_the_ranks_means

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  if (samples == 0)
    for (Tensor& gradient : gradients) gradient.zero_();
  average_gradients(gradients);
}

//// zero_times_nan
// Misconception: a rank without samples multiplies by 0, so its numbers make no difference.
// Replaces: average_over_samples
// Killed by: Part3Samples.a_rank_without_samples
// Diagnosis: zero_times_nan

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  for (Tensor& gradient : gradients) gradient.mul_(static_cast<double>(samples));
  Tensor count = dist::tensor({static_cast<double>(samples)});
  dist::all_reduce(count);
  for (Tensor& gradient : gradients) dist::all_reduce(gradient);
  divide(gradients, count.item<double>());
}

//// averages_after_the_step
// Misconception: it does not matter when the gradients are averaged.
// Replaces: train
// Killed by: Part4Train.with_momentum
// Diagnosis: trains_alone

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    trainer.optimize(weights, gradients);
    average_over_samples(gradients, samples);
  }
}

//// averages_weights
// Misconception: averaging weights gives the same result as averaging gradients. (It does for momentum, which
// is linear, but not for Adam.)
// Replaces: train
// Killed by: Part4Train.with_adam
// Diagnosis: averages_weights

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    (void)samples;
    trainer.optimize(weights, gradients);
    average_gradients(weights);
  }
}

//// averages_weights_too
// Misconception: to be safe, the weights are averaged as well. (The numbers are right.)
// Replaces: train
// Killed by: Part4Train.gradients_alone_travel
// Diagnosis: averages_weights_too

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    average_over_samples(gradients, samples);
    trainer.optimize(weights, gradients);
    average_gradients(weights);
  }
}

//// broadcasts_every_step
// Misconception: the weights drift apart unless they are sent in every step. (The numbers are right.)
// Replaces: train
// Killed by: Part4Train.gradients_alone_travel
// Diagnosis: broadcasts_every_step

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    average_over_samples(gradients, samples);
    trainer.optimize(weights, gradients);
    broadcast_weights(weights);
  }
}

//// broadcasts_in_the_first_step
// Misconception: the weights are needed where they are first used, in step 0. (There may be no step.)
// Replaces: train
// Killed by: Part4Train.with_momentum
// Diagnosis: no_first_broadcast

void train(Tensors& weights, int steps, const Trainer& trainer) {
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    if (step == 0) broadcast_weights(weights);
    const auto samples = trainer.compute(step, weights, gradients);
    average_over_samples(gradients, samples);
    trainer.optimize(weights, gradients);
  }
}

//// broadcasts_in_the_first_training
// Misconception: a program trains once, so it sends the first weights once.
// Replaces: train
// Killed by: Part4Train.with_momentum
// Diagnosis: keeps_something

void train(Tensors& weights, int steps, const Trainer& trainer) {
  static bool is_first = true;
  if (is_first) broadcast_weights(weights);
  is_first = false;
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    average_over_samples(gradients, trainer.compute(step, weights, gradients));
    trainer.optimize(weights, gradients);
  }
}

//// counts_on_new_memory
// Misconception: 0 times anything is 0, so gradients of no samples need no zeros.
// Replaces: train
// Killed by: Part4Train.uneven_last_batch
// Diagnosis: counts_on_new_memory

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  for (int step = 0; step < steps; ++step) {
    Tensors gradients;
    for (const Tensor& weight : weights) gradients.push_back(dist::empty(weight.shape(), weight.dtype()));
    const auto samples = trainer.compute(step, weights, gradients);
    for (Tensor& gradient : gradients) gradient.mul_(static_cast<double>(samples));
    Tensor count = dist::tensor({static_cast<double>(samples)});
    dist::all_reduce(count);
    for (Tensor& gradient : gradients) dist::all_reduce(gradient);
    divide(gradients, count.item<double>());
    trainer.optimize(weights, gradients);
  }
}

//// every_rank_counts_the_same
// Misconception: all ranks have equally many samples, because the sampler makes it so. (In the last batch
// they do not.)
// Replaces: train
// Killed by: Part4Train.uneven_last_batch
// Diagnosis: mean_of_the_ranks_means

void train(Tensors& weights, int steps, const Trainer& trainer) {
  broadcast_weights(weights);
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    if (samples == 0)
      for (Tensor& gradient : gradients) gradient.zero_();
    average_gradients(gradients);
    trainer.optimize(weights, gradients);
  }
}

//// no_first_broadcast
// Misconception: equal steps make equal models. (They do so only from equal weights.)
// Replaces: train
// Killed by: Part4Train.with_momentum
// Diagnosis: no_first_broadcast

void train(Tensors& weights, int steps, const Trainer& trainer) {
  Tensors gradients = zeros_like(weights);
  for (int step = 0; step < steps; ++step) {
    const auto samples = trainer.compute(step, weights, gradients);
    average_over_samples(gradients, samples);
    trainer.optimize(weights, gradients);
  }
}

//// no_step_on_zeros
// Misconception: where all gradients are zero the weights stay.
// Replaces: train
// Killed by: Part4Train.with_momentum
// Diagnosis: no_step_on_zeros

void train(Tensors& weights, int steps, const Trainer& trainer) {
  Trainer other = trainer;
  other.optimize = [&](Tensors& now, const Tensors& gradients) {
    const auto is_zero = [](const Tensor& gradient) {
      const auto numbers = gradient.to_vector<double>();
      return std::ranges::all_of(numbers, [](double number) { return number == 0; });
    };
    if (!std::ranges::all_of(gradients, is_zero)) trainer.optimize(now, gradients);
  };
  right_train(weights, steps, other);
}

//// a_step_for_each_worker
// Misconception: gradients are used as they arrive, one step for each, so that the server does not have to
// wait.
// Replaces: train_with_server
// Killed by: Part5Server.takes_the_step_alone
// Diagnosis: a_step_for_each_worker

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

//// collectives_for_a_server
// Misconception: a reduce to the server and a broadcast from it are a parameter server. (The result is
// right.)
// Replaces: train_with_server
// Killed by: Part5Server.every_message_has_the_server_at_one_end
// Diagnosis: collectives_for_a_server

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

//// everybody_takes_the_step
// Misconception: the server averages the gradients and sends them back, and then each rank takes the step.
// Replaces: train_with_server
// Killed by: Part5Server.takes_the_step_alone
// Diagnosis: everybody_takes_the_step

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

//// hands_out_before_each_step
// Misconception: the server sends the weights when a step begins, and the last ones after the last step.
// (There may be no step.)
// Replaces: train_with_server
// Killed by: Part5Server.as_one_rank
// Diagnosis: no_first_broadcast

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

//// sends_weights_too
// Misconception: the server must know at which weights a gradient was computed.
// Replaces: train_with_server
// Killed by: Part5Server.every_message_has_the_server_at_one_end
// Diagnosis: sends_weights_too

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

//// server_forgets_its_own
// Misconception: the server only serves, and the gradients come from the other ranks.
// Replaces: train_with_server
// Killed by: Part5Server.as_one_rank
// Diagnosis: server_forgets_its_own

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

//// steps_with_the_last_worker
// Misconception: the server takes the step when the last worker's gradients have arrived. (There may be no
// worker.)
// Replaces: train_with_server
// Killed by: Part5Server.as_one_rank
// Diagnosis: none

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

//// workers_begin_elsewhere
// Misconception: the weights come from the server after the first step anyway.
// Replaces: train_with_server
// Killed by: Part5Server.as_one_rank
// Diagnosis: no_first_broadcast

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
