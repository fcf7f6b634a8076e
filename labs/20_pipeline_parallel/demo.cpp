// Lab 20, the demonstration: a model in stages, two schedules, a step of two ranks, and the bubble.
//   ./distlab run 20
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "pipeline_parallel.h"
#include "story.h"

namespace {

using dist::Tensor;
using story::say;

void show_cut() {
  std::vector<double> costs(12, 4);  // twelve blocks, and then the head with the loss
  costs.push_back(10);
  for (const int stages : {2, 4}) {
    const auto sizes = lab::cut(costs, stages);
    std::vector<double> sums;
    auto at = costs.begin();
    for (const int size : sizes) {
      sums.push_back(std::accumulate(at, at + size, 0.0));
      at += size;
    }
    say(fmt::format("   {} stages: {} layers, which cost {}", stages, fmt::join(sizes, " + "),
                    fmt::join(sums, ", ")));
  }
}

std::string text(const std::vector<lab::Action>& list) {
  std::string line;
  for (const auto& [kind, j] : list) line += fmt::format(" {}{}", kind == lab::Kind::forward ? 'F' : 'B', j);
  return line;
}

using Schedule = std::vector<lab::Action> (*)(int rank, int ranks, int micro_batches);

void show_lists() {
  for (const auto& [name, schedule] :
       {std::pair<const char*, Schedule>{"GPipe", lab::gpipe}, {"1F1B", lab::one_f_one_b}}) {
    for (int rank = 0; rank < 4; ++rank)
      say(fmt::format("   {:<6} rank {} {}", rank == 0 ? name : "", rank, text(schedule(rank, 4, 6))));
  }
}

// Each stage adds 1 to what it receives, in 1 ms, and its backward takes 2 ms.
dist::sim::Report simulate(Schedule schedule, int ranks, int micro_batches, bool trace = false) {
  const auto program = [&] {
    const int rank = dist::get_rank();
    constexpr std::int64_t width = 64;
    lab::Batch batch{std::vector<std::int64_t>(static_cast<std::size_t>(micro_batches), 2), {}};
    for (int j = 0; rank == 0 && j < micro_batches; ++j)
      batch.inputs.push_back(dist::full({2, width}, j, dist::DType::f64));
    lab::Stage stage{width, width, {}, {}, {}};
    stage.forward = [](int, const Tensor& input) {
      dist::sim::compute(1e-3);
      return input.clone().add_(dist::full(input.shape(), 1, dist::DType::f64));
    };
    stage.backward = [](int, const Tensor& gradient) {
      dist::sim::compute(2e-3);
      return gradient.clone();
    };
    stage.loss = [](int, const Tensor& output) { return lab::Loss{2, output.clone()}; };
    lab::step(schedule(rank, ranks, micro_batches), batch, stage);
  };
  return story::simulate(ranks, "dgx-a100-hdr", program, trace);
}

void show_bubble() {
  say("   micro-batches   GPipe     1F1B      computation   bubble: measured, (p-1)/(m+p-1)");
  for (const int m : {1, 2, 4, 8, 16, 32}) {
    const double gpipe = simulate(lab::gpipe, 4, m).virtual_time_s;
    const double one_f_one_b = simulate(lab::one_f_one_b, 4, m).virtual_time_s, computation = 3e-3 * m;
    say(fmt::format("   {:>8} {:>12.1f} ms {:>6.1f} ms {:>10.0f} ms {:>13.1f} % {:>10.1f} %", m, 1e3 * gpipe,
                    1e3 * one_f_one_b, 1e3 * computation, 100 * (1 - computation / one_f_one_b),
                    300.0 / (m + 3)));
  }
}

void story_of_the_lab() {
  say("1  Twelve layers that cost 4 each, and a head that costs 10");
  show_cut();
  say("\n2  The lists of four ranks, six micro-batches");
  show_lists();
  say("\n3  1F1B on two ranks, three micro-batches; a forward takes 1 ms, a backward 2 ms");
  story::draw(simulate(lab::one_f_one_b, 2, 3, true), 20);
  say("\n4  The bubble of four ranks");
  show_bubble();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
