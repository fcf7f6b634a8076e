#include "distlab/bench/ddp/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <optional>

#include "dist/core/counted.h"
#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/core/whole_file.h"
#include "dist/dist.h"

#include "distlab/bench/ddp/pytorch.h"
#include "distlab/bench/ddp/training.h"
#include "distlab/bench/statistics.h"

namespace distlab::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int warm_up_steps = 5;

// All ranks together. GPU backends sum only on GPUs.
class Ranks {
 public:
  explicit Ranks(dist::Device device) : device_(device) {}

  double combined(double mine, dist::ReduceOp op) const {
    auto value = dist::tensor({mine}, dist::cpu).to(device_);
    dist::all_reduce(value, op);
    return value.item<double>();
  }
  // Begins on all ranks at the same time, and returns the time of the slowest rank.
  double seconds_of(const std::function<void()>& work) const {
    dist::barrier();
    const auto began = Clock::now();
    work();
    return combined(std::chrono::duration<double>(Clock::now() - began).count(), dist::ReduceOp::max);
  }

 private:
  const dist::Device device_;
};

dist::Device device_of_this_rank(const DdpBenchOptions& options) {
  if (options.device == "cpu") return dist::cpu;
  return dist::cuda(dist::get_local_rank() % dist::device_api(dist::DeviceType::cuda).count());
}

// Both sides have taken the same steps from the same weights, so their losses must agree.
// Convolutions in TF32 round to a thousandth.
void check_loss(const DdpBenchOptions& options, double ours, double theirs) {
  const double tolerance = options.device == "cpu" ? 1e-3 : 3e-2;
  if (std::abs(ours - theirs) > tolerance * std::abs(theirs))
    dist::fail(dist::Errc::internal,
               "after {} PyTorch's loss on rank {} is {}, but ours is {}: the two do not compute the same",
               dist::counted(warm_up_steps, "step"), dist::get_rank(), theirs, ours);
}

int steps_of_a_turn(const DdpBenchOptions& options, double seconds_a_step) {
  if (options.steps > 0) return options.steps;
  constexpr double turn = 0.25, most = 1000;
  return static_cast<int>(std::clamp(std::round(turn / seconds_a_step), 2., most));
}

DdpRow measure_on_this_rank(const DdpBenchOptions& options, const fs::path& folder) {
  const dist::Device device = device_of_this_rank(options);
  const Ranks ranks(device);
  Training ours(options.batch_size, device, !options.cut_graphs);
  ours.save(folder);
  dist::barrier();
  std::optional<PyTorchRank> theirs;
  if (!options.compare.empty())
    theirs.emplace(dist::get_rank(), dist::get_world_size(), folder, options.device);

  ours.train(warm_up_steps);
  if (theirs) check_loss(options, ours.loss(), theirs->train(warm_up_steps).loss);
  ours.compute(warm_up_steps);
  const int steps =
      steps_of_a_turn(options, ranks.seconds_of([&] { ours.train(warm_up_steps); }) / warm_up_steps);

  std::vector<double> step, exposed, compute, communication, peer, graphs;
  const auto add = [&](std::vector<double>& to, double seconds) { to.push_back(seconds / steps); };
  for (int i = 0; i < options.repeats; ++i) {
    add(step, ranks.seconds_of([&] { ours.train(steps); }));
    // The rank that waits least waits only for messages; the other ranks also wait for that rank.
    exposed.push_back(ranks.combined(ours.exposed(), dist::ReduceOp::min));
    if (theirs) add(peer, ranks.combined(theirs->train(steps).seconds, dist::ReduceOp::max));
    add(compute, ranks.seconds_of([&] { ours.compute(steps); }));
    add(communication, ranks.seconds_of([&] { ours.communicate(steps); }));
  }
  for (int i = 0; device != dist::cpu && i < options.repeats; ++i)  // last: what they compute has no meaning
    add(graphs, ranks.seconds_of([&] { ours.graphs(steps); }));
  return {.ranks = dist::get_world_size(),
          .steps = steps,
          .step = median(step),
          .exposed = median(exposed),
          .compute = median(compute),
          .communication = median(communication),
          .peer = theirs ? median(peer) : 0,
          .graphs = graphs.empty() ? 0 : median(graphs)};
}

constexpr auto row_file = "row";

void write_row(const DdpRow& row, const fs::path& folder) {
  dist::WholeFile out(folder / row_file);
  out.write(std::as_bytes(std::span(&row, 1)));
  out.finish();
}

}  // namespace

void measure_ddp(const DdpBenchOptions& options, const fs::path& folder) {
  dist::spawn(options.ranks, [&](int rank) {
    dist::init_process_group({.backend = options.device == "cpu" ? "host" : "auto"});
    const DdpRow row = measure_on_this_rank(options, folder);
    if (rank == 0) write_row(row, folder);
    dist::destroy_process_group();
  });
}

DdpRow read_row(const fs::path& folder) {
  const fs::path file = folder / row_file;
  DdpRow row;
  if (!std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&row), sizeof row))
    dist::fail(dist::Errc::resource, "{} cannot be read, because rank 0 has not written its figures",
               file.string());
  return row;
}

}  // namespace distlab::bench
