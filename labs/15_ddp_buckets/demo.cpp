// Lab 15, the demonstration: gradients in buckets, sent while backward continues, and what that saves.
//   ./distlab run 15
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "ddp_buckets.h"
#include "drawing/ascii.h"
#include "story.h"

namespace {

using dist::Tensor;
using story::say;

using Limits = std::vector<std::size_t>;

std::vector<Tensor> zeros_of(const std::vector<std::int64_t>& counts) {
  std::vector<Tensor> gradients;
  for (const std::int64_t count : counts) gradients.push_back(dist::zeros({count}));
  return gradients;
}

// The parameters of the ConvNet of Lab 16, in their order.
void show_buckets() {
  const std::vector<std::string> names{"conv1.weight", "conv1.bias", "bn1.weight", "bn1.bias",
                                       "conv2.weight", "conv2.bias", "bn2.weight", "bn2.bias",
                                       "fc.weight",    "fc.bias"};
  auto gradients = zeros_of({400, 16, 16, 16, 12800, 32, 32, 32, 15680, 10});
  const auto reducer = lab::make_reducer(gradients, {4096, 32768});
  for (std::size_t i = 0; i < reducer.buckets.size(); ++i) {
    std::vector<std::string> members;
    for (const std::size_t member : reducer.buckets[i].members) members.push_back(names[member]);
    say(fmt::format("   bucket {}, {:>6} bytes: {}", i, reducer.buckets[i].memory.nbytes(),
                    fmt::join(members, ", ")));
  }
}

// The backward of an artificial model: gradient i takes `seconds` and becomes value + i. The last gradient
// comes first; on rank 1, if it takes no time, the first one.
void backward(lab::Reducer& reducer, std::vector<Tensor>& gradients, double value, double seconds) {
  const auto n = gradients.size();
  for (std::size_t step = 0; step < n; ++step) {
    const std::size_t i = dist::get_rank() == 1 && seconds == 0 ? step : n - 1 - step;
    gradients[i].add_(dist::full(gradients[i].shape(), value + static_cast<double>(i)));
    dist::sim::compute(seconds);
    lab::ready(reducer, i);
  }
}

void average(int rank) {
  dist::init_process_group();
  auto gradients = zeros_of({2, 2, 2, 2});
  auto reducer = lab::make_reducer(gradients, {8, 16});
  lab::start(reducer);
  backward(reducer, gradients, 10. * rank, 0);
  lab::finish(reducer);
  std::vector<std::string> texts;
  for (const Tensor& gradient : gradients) texts.push_back(gradient.str());
  story::say_in_turn(fmt::format("{}", fmt::join(texts, "  ")));
  dist::destroy_process_group();
}

dist::sim::Report simulate(int ranks, const std::function<void()>& program, bool trace = false) {
  return story::simulate(ranks, "10gbe", program, trace);
}

void picture() {
  const auto report = simulate(
      2,
      [] {
        auto gradients = zeros_of({20'000, 20'000, 20'000});
        auto reducer = lab::make_reducer(gradients, {1});
        lab::start(reducer);
        backward(reducer, gradients, 1, 150e-6);
        lab::finish(reducer);
      },
      true);
  say(dist::trace::to_ascii(report.trace));
}

// Ninety-six gradients of 60 kB, a tenth of a millisecond each, on four nodes.
constexpr int machines = 4, parameters = 96;
constexpr std::int64_t elements = 15'000;
constexpr double gradient_seconds = 1e-4;

double step_seconds(const Limits& limits) {
  return simulate(machines,
                  [&] {
                    auto gradients = zeros_of(std::vector<std::int64_t>(parameters, elements));
                    auto reducer = lab::make_reducer(gradients, limits);
                    lab::start(reducer);
                    backward(reducer, gradients, 1, gradient_seconds);
                    lab::finish(reducer);
                  })
      .virtual_time_s;
}

// Every gradient is averaged as soon as it is ready, and backward waits for it.
double waiting_seconds() {
  return simulate(machines,
                  [] {
                    auto gradients = zeros_of(std::vector<std::int64_t>(parameters, elements));
                    for (Tensor& gradient : gradients) {
                      dist::sim::compute(gradient_seconds);
                      dist::all_reduce(gradient, dist::ReduceOp::avg);
                    }
                  })
      .virtual_time_s;
}

void breakdown() {
  constexpr double computation = parameters * gradient_seconds;
  const auto row = [](const char* name, double seconds) { story::say_bar(name, seconds, computation, 1e-3); };
  row("backward alone", computation);
  row("wait for each gradient", waiting_seconds());
  row("one bucket per gradient", step_seconds({1}));
  row("buckets of 256 KiB", step_seconds({256 << 10}));
  row("buckets of 1 MiB", step_seconds({1 << 20}));
  row("buckets of 2 MiB", step_seconds({2 << 20}));
  row("one bucket of 5.5 MiB", step_seconds({}));
  say("   █ backward computes   ░ exposed communication");
}

void silence() {
  constexpr int batches = 4;
  const auto bytes = [](bool every_time) {
    return story::bytes_sent(simulate(machines, [&] {
      auto gradients = zeros_of({250'000, 250'000});
      auto reducer = lab::make_reducer(gradients, {1});
      const auto one = [&](int) { backward(reducer, gradients, 1, gradient_seconds); };
      if (!every_time) return lab::accumulate(reducer, batches, one);
      for (int batch = 0; batch < batches; ++batch) lab::accumulate(reducer, 1, one);
    }));
  };
  say(fmt::format("   all ranks send, averaging after each batch      {}", story::in_bytes(bytes(true))));
  say(fmt::format("   all ranks send, averaging after the last one    {}", story::in_bytes(bytes(false))));
}

void story_of_the_lab() {
  say("1  The buckets of a ConvNet, with limits of 4096 and then 32768 bytes");
  show_buckets();
  say("\n2  Three processes; on rank 1 the first gradient is ready first. Gradients 0 to 3 afterwards:");
  dist::spawn(3, [](int rank) { average(rank); });
  say("\n3  Two ranks, three gradients of 80 kB, 150 us each; every gradient has a bucket of its own");
  picture();
  say("4  A backward pass with 96 gradients, 0.1 ms and 60 kB each, on four nodes");
  breakdown();
  say("\n5  Four batches for one step");
  silence();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
