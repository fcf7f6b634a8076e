// Lab 18, the demonstration: parameters in shards, what that saves in memory, and what it costs in time.
//   ./distlab run 18
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "drawing/ascii.h"
#include "fully_sharded.h"
#include "story.h"

namespace lab {

Rows rows_in_parts(std::int64_t rows, int rank, int n) { return rows_of(rows, rank, n); }

}  // namespace lab

namespace {

using dist::DType, dist::Tensor;
using story::say;

void show_rows() {
  for (const std::int64_t rows : {8, 6, 5}) {
    std::vector<std::string> parts;
    for (int rank = 0; rank < 4; ++rank) {
      const auto [first, count] = lab::rows_of(rows, rank, 4);
      parts.push_back(count == 0   ? "none"
                      : count == 1 ? fmt::format("{}", first)
                                   : fmt::format("{} to {}", first, first + count - 1));
    }
    say(fmt::format("   {} rows on four ranks: {}", rows, fmt::join(parts, " | ")));
  }
}

void update_own_rows(int rank) {
  dist::init_process_group();
  Tensor parameter = dist::arange(6, DType::f64);
  std::int64_t updated = 0;
  lab::zero_step(parameter, dist::full({6}, rank, DType::f64), [&](Tensor& rows, const Tensor& gradient) {
    updated = rows.numel();
    rows.add_(gradient, -1);
  });
  story::say_in_turn(fmt::format("has updated {} rows, and has {}", updated, parameter.str()));
  dist::destroy_process_group();
}

// A model whose units have a weight of 192 x 192 and a bias, and compute nothing for a time.
constexpr std::int64_t width = 192;
constexpr int ranks = 4, layers = 8;

struct Program {
  int units = layers;
  double forward_s = 0, backward_s = 0;
  bool prefetches = false, trains = true;

  void operator()() const {
    const std::vector<dist::Shape> shapes{{width, width}, {width}};
    std::vector<lab::Unit> model;
    for (int i = 0; i < units; ++i)
      model.push_back(
          lab::make_unit({dist::zeros(shapes[0], DType::f64), dist::zeros(shapes[1], DType::f64)}));
    const lab::Compute compute{
        [&](std::size_t, const lab::Tensors&, const Tensor& input) {
          dist::sim::compute(forward_s);
          return input;
        },
        [&](std::size_t, const lab::Tensors&, const Tensor& grad_output) {
          dist::sim::compute(backward_s);
          return lab::Gradients{grad_output,
                                {dist::zeros(shapes[0], DType::f64), dist::zeros(shapes[1], DType::f64)}};
        }};
    const Tensor x = dist::zeros({width}, DType::f64);
    if (prefetches) {
      lab::prefetching_forward(model, x, compute);
      if (trains) lab::prefetching_backward(model, x, compute);
    } else {
      lab::forward(model, x, compute);
      if (trains) lab::backward(model, x, compute);
    }
  }
};

dist::sim::Report simulate(int n, const Program& program, bool trace = false) {
  return story::simulate(n, "10gbe", program, trace);
}

constexpr std::uint64_t unit = 8 * width * (width + 1);  // bytes

// What a reduction of a unit takes inside the library, besides its input and its output.
std::uint64_t copies_of_a_reduction() {
  const auto reduce = [] {
    const Tensor gradients = dist::zeros({unit / 8}, DType::f64);
    Tensor mean = dist::empty({unit / 8 / ranks}, DType::f64);
    dist::reduce_scatter_tensor(mean, gradients, dist::ReduceOp::avg);
  };
  return story::simulate(ranks, "10gbe", reduce).max_peak_buffer_bytes() - unit - unit / ranks;
}

void memory() {
  const auto row = [](const char* name, std::uint64_t bytes) {
    say(fmt::format("   {:<44} {:>6.3f} MiB", name, static_cast<double>(bytes) / (1024 * 1024)));
  };
  row("DDP: all parameters and gradients", 2 * layers * unit);
  row("sharded: the shards and their gradients", 2 * layers * unit / ranks);
  // Both peaks are in backward, while a reduction is in flight.
  const std::uint64_t copies = copies_of_a_reduction();
  row("a step without prefetch, at its peak", simulate(ranks, {}).max_peak_buffer_bytes() - copies);
  row("a step with prefetch, at its peak",
      simulate(ranks, {.prefetches = true}).max_peak_buffer_bytes() - copies);
  row("and the library's own copies in a reduction", copies);
}

void time() {
  constexpr double forward_s = 400e-6, backward_s = 800e-6;
  const auto row = [](const char* name, double seconds) {
    story::say_bar(name, seconds, layers * (forward_s + backward_s), 0.5e-3);
  };
  const auto seconds = [&](bool prefetches) {
    return simulate(ranks, {.forward_s = forward_s, .backward_s = backward_s, .prefetches = prefetches})
        .virtual_time_s;
  };
  row("computation", layers * (forward_s + backward_s));
  row("without prefetch", seconds(false));
  row("with prefetch", seconds(true));
  say("   █ the layers compute   ░ exposed communication");
}

void picture() {
  const Program program{.units = 3, .forward_s = 300e-6, .prefetches = true, .trains = false};
  say(dist::trace::to_ascii(simulate(2, program, true).trace));
}

void story_of_the_lab() {
  say("1  Which rows does a rank have?");
  show_rows();
  say("\n2  ZeRO-1, four processes: a parameter {0, 1, 2, 3, 4, 5}; the gradient of rank r is r everywhere");
  dist::spawn(4, [](int rank) { update_own_rows(rank); });
  say("\n3  Forward with prefetch: two ranks, three units of 290 KiB, each computes for 300 us");
  picture();
  say("4  The memory of a rank: four ranks, eight units of 290 KiB");
  memory();
  say("\n5  The time of a step: the same model on 10 Gb/s Ethernet; 0.4 ms forward, 0.8 ms backward per "
      "unit");
  time();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
