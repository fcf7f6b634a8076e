// Lab 14, the demonstration: copies of one model on several ranks, and what it costs to keep them equal.
//   ./distlab run 14
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "data_parallel.h"
#include "drawing/ascii.h"
#include "one_process.h"
#include "story.h"

namespace {

using dist::DType, dist::Tensor;
using story::say, story::say_in_turn;

using Numbers = std::vector<double>;

void first_weights(int rank) {
  dist::init_process_group();
  lab::Tensors weights{dist::full({3}, 10 * rank), dist::full({2}, 10 * rank + 1)};
  const auto before = weights[0].str() + " " + weights[1].str();
  lab::broadcast_weights(weights);
  say_in_turn(fmt::format("{:<32} {} {}", before, weights[0].str(), weights[1].str()));
  dist::destroy_process_group();
}

// The samples 1 to 10: the four ranks have 3, 3, 3 and 1 of them.
Numbers part_of(int rank) {
  Numbers part;
  for (int sample = 3 * rank + 1; sample <= std::min(3 * rank + 3, 10); ++sample) part.push_back(sample);
  return part;
}

double mean(const Numbers& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

void last_batch(int rank) {
  dist::init_process_group();
  const auto part = part_of(rank);
  lab::Tensors plain{dist::full({1}, mean(part), DType::f64)}, weighted{plain[0].clone()};
  lab::average_gradients(plain);
  lab::average_over_samples(weighted, std::ssize(part));
  say_in_turn(fmt::format("samples {:<11} mean {:<4} mean of the means {:<6} mean over all samples {}",
                          fmt::format("{}", fmt::join(part, " ")), mean(part), plain[0].item<double>(),
                          weighted[0].item<double>()));
  dist::destroy_process_group();
}

// Every sample pulls all weights towards itself: its gradient is (weight - sample).
using Compute = decltype(lab::Trainer::compute);
Compute pulled_by(const Numbers& samples) {
  return [samples](int, const lab::Tensors& weights, lab::Tensors& gradients) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      gradients[i].copy_(weights[i]).add_(dist::full(weights[i].shape(), -mean(samples), DType::f64));
    return std::ssize(samples);
  };
}

using Optimize = decltype(lab::Trainer::optimize);
Optimize momentum() {
  return [velocity = std::make_shared<Tensor>()](lab::Tensors& weights, const lab::Tensors& gradients) {
    if (!velocity->is_defined()) *velocity = dist::zeros_like(weights[0]);
    velocity->mul_(0.9).add_(gradients[0]);
    weights[0].add_(*velocity, -0.1);
  };
}

Optimize adam() {
  struct State {
    Tensor first, second;
    int steps = 0;
  };
  return [state = std::make_shared<State>()](lab::Tensors& weights, const lab::Tensors& gradients) {
    if (state->steps++ == 0)
      state->first = dist::zeros_like(weights[0]), state->second = dist::zeros_like(weights[0]);
    state->first.mul_(0.9).add_(gradients[0], 0.1);
    state->second.mul_(0.999).add_(gradients[0] * gradients[0], 0.001);
    const Tensor size = dist::sqrt(state->second * (1 / (1 - std::pow(0.999, state->steps))));
    const double corrected = 1 / (1 - std::pow(0.9, state->steps));
    weights[0].add_(state->first / (size + dist::full(size.shape(), 1e-8, DType::f64)), -0.1 * corrected);
  };
}

constexpr int ranks = 4, steps = 10;

// The weight that rank 0 has after `train` has run on `count` ranks.
double trained(int count, const std::function<void(lab::Tensors& weights, int rank)>& train) {
  double result = 0;
  story::simulate(count, "laptop", [&] {
    lab::Tensors weights{dist::full({1}, 100, DType::f64)};
    train(weights, dist::get_rank());
    if (dist::get_rank() == 0) result = weights[0].item<double>();
  });
  return result;
}

// The wrong way: every rank takes its own step, and then the weights are averaged.
void average_weights(lab::Tensors& weights, const lab::Trainer& trainer) {
  lab::Tensors gradients{dist::zeros_like(weights[0])};
  for (int step = 0; step < steps; ++step) {
    trainer.compute(step, weights, gradients);
    trainer.optimize(weights, gradients);
    dist::all_reduce(weights[0], dist::ReduceOp::avg);
  }
}

void compare(const char* name, const std::function<Optimize()>& optimizer) {
  Numbers all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(30 * rank * rank);  // one sample per rank
  const auto of_rank = [&](int rank) {
    return lab::Trainer{pulled_by({all[static_cast<std::size_t>(rank)]}), optimizer()};
  };
  const double alone = trained(1, [&](lab::Tensors& weights, int) {
    lab::train(weights, steps, {pulled_by(all), optimizer()});
  });
  const double gradients =
      trained(ranks, [&](lab::Tensors& weights, int rank) { lab::train(weights, steps, of_rank(rank)); });
  const double server = trained(
      ranks, [&](lab::Tensors& weights, int rank) { lab::train_with_server(weights, steps, of_rank(rank)); });
  const double averaged =
      trained(ranks, [&](lab::Tensors& weights, int rank) { average_weights(weights, of_rank(rank)); });
  say(fmt::format("   {:<10} {:>12.4f} {:>12.4f} {:>12.4f} {:>18.4f}", name, alone, gradients, server,
                  averaged));
}

using Train = void (*)(lab::Tensors&, int, const lab::Trainer&);

// Simulates `steps_taken` steps of a model with `weights` f32 weights. The computation takes no time.
dist::sim::Report simulate(int count, Train train, std::int64_t weights, int steps_taken,
                           bool trace = false) {
  const auto program = [&] {
    lab::Tensors model{dist::zeros({weights})};
    train(model, steps_taken,
          {[](int, const lab::Tensors&, lab::Tensors&) { return std::int64_t{1}; },
           [](lab::Tensors&, const lab::Tensors&) {}});
  };
  return story::simulate(count, "10gbe", program, trace);
}

void picture() { say(dist::trace::to_ascii(simulate(3, lab::train_with_server, 50'000, 1, true).trace)); }

// The cost of one step: what a run of two steps takes beyond a run of one.
void cost(const char* name, int count, Train train) {
  constexpr std::int64_t weights = 250'000;
  const auto one = simulate(count, train, weights, 1), two = simulate(count, train, weights, 2);
  const auto busiest = [](const dist::sim::Report& report) {
    std::uint64_t most = 0;
    for (const auto& of_rank : report.traffic)
      most = std::max(most, of_rank.bytes_sent + of_rank.bytes_received);
    return static_cast<double>(most);
  };
  say(fmt::format("   {:>5}  {:<18} {:>8.2f} MB {:>10.2f} ms", count, name,
                  (busiest(two) - busiest(one)) / 1e6, (two.virtual_time_s - one.virtual_time_s) * 1e3));
}

void story_of_the_lab() {
  say("1  The first weights of four processes, before and after");
  dist::spawn(ranks, first_weights);
  say("\n2  A last batch of ten samples on four processes; each gradient is the sample itself");
  dist::spawn(ranks, last_batch);
  say(fmt::format("\n3  A weight that was 100, after {} steps; four ranks have 0, 30, 120 and 270 samples",
                  steps));
  say("                 one process   gradients       server   weights averaged");
  compare("momentum", momentum);
  compare("Adam", adam);
  say("\n4  One step with a parameter server: three ranks, 200 kB of weights, 10 Gb/s Ethernet");
  picture();
  say("5  The cost of a step: 1 MB of weights on 10 Gb/s Ethernet");
  say("   ranks  scheme             busiest rank     time");
  for (const int count : {2, 4, 16, 64}) {
    cost("parameter server", count, lab::train_with_server);
    cost("all_reduce", count, lab::train);
  }
  say("\n6  The ten samples again: the gradient of one weight, by threads and by processes");
  one_process::show_gradients();
  say("\n7  A step on the devices of one node: 8 MB of weights, 12.4 ms of computation on one device");
  one_process::show_times();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
