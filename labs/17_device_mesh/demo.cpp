// Lab 17, the demonstration: a grid of ranks, its slices and groups, and two sums over some of its axes.
//   ./distlab run 17
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"
#include "dist/group/group_state.h"

#include "device_mesh.h"
#include "drawing/ascii.h"
#include "story.h"

namespace {

using story::say;

lab::Grid grid_of(const lab::Names& names, const std::vector<int>& sizes) {
  lab::Grid grid{names, sizes, {}};
  grid.ranks.resize(std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>()));
  std::iota(grid.ranks.begin(), grid.ranks.end(), 0);
  return grid;
}

void show_places() {
  const lab::Grid grid = grid_of({"dp", "tp"}, {2, 4});
  say("             tp=0  tp=1  tp=2  tp=3");
  for (int row = 0; row < 2; ++row) {
    std::string line = fmt::format("      dp={} ", row);
    for (int column = 0; column < 4; ++column)
      line += fmt::format("{:>6}", lab::rank_at(grid, {row, column}));
    say(line);
  }
  say(fmt::format("   rank 6 is at {{{}}}", fmt::join(lab::coordinates(grid, 6), ", ")));
  const lab::Grid any{{"dp", "tp"}, {2, 2}, {6, 2, 7, 3}};
  say(fmt::format("   in a grid of 2 x 2 with the ranks {{{}}}, rank 7 is at {{{}}}",
                  fmt::join(any.ranks, ", "), fmt::join(lab::coordinates(any, 7), ", ")));
}

void show_slices() {
  const lab::Grid grid = grid_of({"dp", "cp", "tp"}, {2, 2, 2});
  for (const lab::Names& axes : {lab::Names{"dp"}, {"cp"}, {"tp"}, {"dp", "cp"}, {"dp", "tp"}})
    say(fmt::format("   along {:<7} {{{}}}", fmt::format("{}", fmt::join(axes, ", ")),
                    fmt::join(lab::slice(grid, axes, 5).ranks, ", ")));
}

dist::sim::Report simulate(int ranks, const std::function<void()>& program) {
  return story::simulate(ranks, "laptop", program, true);
}

void show_groups() {
  for (const std::vector<int>& sizes : {std::vector<int>{2, 4}, {2, 3, 4}, {1, 24}}) {
    const lab::Grid grid =
        grid_of(sizes.size() == 2 ? lab::Names{"dp", "tp"} : lab::Names{"dp", "cp", "tp"}, sizes);
    std::uint64_t groups = 0;
    simulate(static_cast<int>(grid.ranks.size()), [&] {
      const auto before = dist::default_group().state()->control_calls;
      lab::make_mesh(grid);
      groups = dist::default_group().state()->control_calls - before;
    });
    say(fmt::format("   {:<9}  {:>2} groups; one for each rank and axis would be {}",
                    fmt::format("{}", fmt::join(sizes, " x ")), groups, grid.ranks.size() * sizes.size()));
  }
}

// The losses of eight ranks: those that differ only along tp have the same tokens.
void show_loss() {
  const lab::Grid grid = grid_of({"dp", "cp", "tp"}, {2, 2, 2});
  const std::vector<double> sums{30, 2, 6, 12};
  const std::vector<std::int64_t> tokens{10, 1, 2, 3};
  double sum_of_means = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double mean = sums[i] / static_cast<double>(tokens[i]);
    sum_of_means += mean;
    say(fmt::format("   ranks {} and {}: sum {:>2}, tokens {:>2}, mean {}", 2 * i, 2 * i + 1, sums[i],
                    tokens[i], mean));
  }
  lab::MeanLoss loss;
  simulate(8, [&] {
    auto mesh = lab::make_mesh(grid);
    lab::flatten(mesh, {"dp", "cp"}, "dp_cp");
    const auto data = static_cast<std::size_t>(dist::get_rank()) / 2;
    const auto of_all = lab::mean_loss(mesh, "dp_cp", sums[data], tokens[data]);
    if (dist::get_rank() == 7) loss = of_all;
  });
  say(fmt::format("   mean_loss on rank 7: {} over {} tokens (the mean of the four means is {})", loss.mean,
                  loss.tokens, sum_of_means / 4));
}

// Four ranks: a weight of 8 elements in two halves along tp, a bias of 3 that every rank has.
std::vector<lab::Gradient> gradients_of(const lab::Grid& grid) {
  const int tp = lab::coordinates(grid, dist::get_rank())[1];
  std::vector<lab::Gradient> gradients;
  gradients.push_back({dist::full({4}, tp == 0 ? 3 : 4, dist::DType::f64), {"tp"}});
  gradients.push_back({dist::full({3}, 10, dist::DType::f64), {}});
  return gradients;
}

void show_norm() {
  const lab::Grid grid = grid_of({"dp", "tp"}, {2, 2});
  double norm = 0, after = 0;
  const auto report = simulate(4, [&] {
    const auto mesh = lab::make_mesh(grid);
    auto gradients = gradients_of(grid);
    const double before = lab::gradient_norm(mesh, gradients);
    if (dist::get_rank() == 3) norm = before;
  });
  simulate(4, [&] {
    const auto mesh = lab::make_mesh(grid);
    auto gradients = gradients_of(grid);
    lab::clip_gradients(mesh, gradients, 10);
    const double clipped = lab::gradient_norm(mesh, gradients);
    if (dist::get_rank() == 3) after = clipped;
  });
  say(dist::trace::to_ascii(report.trace, {.width = 100}));
  const double weight = 4 * 9 + 4 * 16, bias = 3 * 100;
  say(fmt::format("   gradient_norm on rank 3                       {:.4f}", norm));
  say(fmt::format("   on one rank, with all 8 + 3 elements          {:.4f}", std::sqrt(weight + bias)));
  say(fmt::format("   rank 3's own elements only                    {:.4f}", std::sqrt(4 * 16 + bias)));
  say(fmt::format("   squares summed over all four ranks            {:.4f}",
                  std::sqrt(2 * weight + 4 * bias)));
  say(fmt::format("   after clip_gradients with max_norm 10         {:.4f}", after));
}

void story_of_the_lab() {
  say("1  Eight ranks on a grid of 2 x 4");
  show_places();
  say("\n2  The slices from rank 5 in a grid of 2 x 2 x 2 with axes dp, cp and tp");
  show_slices();
  say("\n3  The groups of a mesh");
  show_groups();
  say("\n4  The mean loss: dp, cp and tp with two ranks each, data along dp and cp");
  show_loss();
  say("\n5  The norm of the gradient: dp=2, tp=2; a weight sharded over tp, a replicated bias");
  show_norm();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
