// show overlap: one step of DistributedDataParallel, first waiting for each bucket, then overlapping it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/dist.h"
#include "dist/nn/module.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "distlab/show/scene.h"
#include "distlab/terminal.h"

namespace distlab::show {
namespace {

using dist::trace::Event;
using dist::trace::Kind;

constexpr int layers = 4, ranks_of_step = 4;
constexpr double backward_of_a_layer = 2e-3;  // s
constexpr std::int64_t parameters_of_a_layer = 250'000;

// A model whose backward takes virtual time, the last layer first.
class Layers : public dist::nn::Module {
 public:
  Layers() {
    for (int i = 0; i < layers; ++i) {
      weights_[static_cast<std::size_t>(i)].initialize(dist::zeros({parameters_of_a_layer}));
      register_parameter(fmt::format("layer{}", i + 1), weights_[static_cast<std::size_t>(i)]);
    }
  }
  dist::Tensor run_forward(const dist::Tensor& input) override { return input; }
  dist::Tensor run_backward(const dist::Tensor& grad) override {
    for (auto weight = weights_.rbegin(); weight != weights_.rend(); ++weight) {
      dist::sim::compute(backward_of_a_layer);
      weight->grad_is_ready();
    }
    return grad;
  }

 private:
  std::array<dist::nn::Parameter, layers> weights_;
};

std::function<void()> wait_at_once(const dist::GradBucket& bucket) {
  dist::all_reduce_hook(bucket)();
  return [] {};
}

struct Interval {
  std::int64_t begin, end;  // ps
};

// One step, timed from its beginning on rank 0: the computations, and when each bucket was on the network.
struct Step {
  std::vector<Interval> computing, sending;
  double seconds = 0;
  dist::trace::Trace trace;
};

Step step_of(dist::trace::Trace trace) {
  Step step;
  std::map<std::uint64_t, Interval> buckets;  // by sequence number
  for (const Event& event : trace.events) {
    if (event.rank != 0) continue;
    if (event.kind == Kind::compute) step.computing.push_back({event.begin, event.end});
    if (event.name != "all_reduce" || (event.kind != Kind::send && event.kind != Kind::receive)) continue;
    Interval& bucket = buckets.try_emplace(event.sequence, Interval{event.begin, event.end}).first->second;
    bucket = {std::min(bucket.begin, event.begin), std::max(bucket.end, event.end)};
  }
  for (const auto& [sequence, interval] :
       buckets)  // the last all_reduce is not a bucket: it says which parameters were used
    if (step.sending.size() < layers) step.sending.push_back(interval);
  const std::int64_t begin = step.computing.front().begin;
  for (auto* lane : {&step.computing, &step.sending})
    for (Interval& interval : *lane) {
      interval = {interval.begin - begin, interval.end - begin};
      step.seconds = std::max(step.seconds, static_cast<double>(interval.end) * 1e-12);
    }
  step.trace = std::move(trace);
  return step;
}

Step one_step(const dist::CommHook& hook) {
  dist::sim::RunOptions run;
  run.ranks = ranks_of_step;
  run.topology = "10gbe";
  run.trace = true;
  auto report = dist::sim::run(run, [&](int) {
    dist::init_process_group();
    {
      Layers model;
      dist::DistributedDataParallel ddp(
          model, {.first_bucket_bytes = 1, .bucket_bytes = 1, .find_unused_parameters = true, .hook = hook});
      const auto input = dist::ones({1});
      (void)ddp.backward(ddp.forward(input));
    }
    dist::destroy_process_group();
  });
  if (!report.failures.empty()) dist::fail(dist::Errc::internal, "{}", report.failures.front().what);
  return step_of(std::move(report.trace));
}

// Returns a lane of `columns` columns for `seconds`; each interval is filled with the number of its layer.
std::string lane_of(const std::vector<Interval>& lane, Style style, double seconds, int columns) {
  std::string cells(static_cast<std::size_t>(columns), ' '), text;
  int number = layers;
  const auto column = [&](std::int64_t ps) {
    return std::min(columns, static_cast<int>(static_cast<double>(ps) * 1e-12 / seconds * columns + 0.5));
  };
  for (const Interval& interval : lane) {
    for (int c = column(interval.begin); c < column(interval.end); ++c)
      cells[static_cast<std::size_t>(c)] = static_cast<char>('0' + number);
    --number;
  }
  for (const char cell : cells) text += cell == ' ' ? std::string(" ") : styled(style, std::string(1, cell));
  return text;
}

void draw_step(const char* title, const Step& step, double longest) {
  const int columns = terminal_width() - 16;
  fmt::print("  {}, {:.1f} ms\n", styled(Style::bold, title), step.seconds * 1e3);
  fmt::print("    backward {}\n", lane_of(step.computing, Style::good, longest, columns));
  fmt::print("    network  {}\n\n", lane_of(step.sending, Style::warn, longest, columns));
}

}  // namespace

dist::trace::Trace overlap() {
  say(fmt::format(
      "This is one step of DistributedDataParallel with {} ranks on 10 Gb/s Ethernet. {} layers have 1 MB of "
      "gradients each, computed in {:.0f} ms, the last layer first. Digits are layers; lanes are rank 0's.",
      ranks_of_step, layers, backward_of_a_layer * 1e3));
  fmt::print("\n");
  const Step waiting = one_step(wait_at_once);
  Step overlapped = one_step(dist::all_reduce_hook);
  const double longest = std::max(waiting.seconds, overlapped.seconds);
  draw_step("waiting for each bucket", waiting, longest);
  draw_step("overlapping communication", overlapped, longest);
  say(fmt::format(
      "With the same work and the same network, the step is {:.0f} % shorter. Only the last bucket remains "
      "visible, because nothing is left to compute behind it.",
      100 * (1 - overlapped.seconds / waiting.seconds)));
  return std::move(overlapped.trace);
}

}  // namespace distlab::show
