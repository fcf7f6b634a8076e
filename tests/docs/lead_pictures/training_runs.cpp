// The runs of labs 13 to 20: samples, a training step, and models in parts.
#include "dist/dist.h"
#include "dist/mesh/device_mesh.h"

#include "fully_sharded.h"
#include "picture.h"
#include "pipeline_parallel.h"

namespace lab {

Rows rows_in_parts(std::int64_t rows, int rank, int n) { return rows_of(rows, rank, n); }

}  // namespace lab

namespace dist::pictures {
namespace {

using trace::Trace;

// "F0", "F1", ... for the first `forwards` computations, and then "B" backwards: the last one first.
std::string forward_then_backward(int k, int layers) {
  return k < layers ? "F" + std::to_string(k) : "B" + std::to_string(2 * layers - 1 - k);
}

// An all_reduce after every sample: two ranks have a third sample, or all ranks have.
std::vector<Trace> samples() {
  const auto epoch = [](bool pads) {
    return [=](int rank) {
      Tensor gradient = ones({64});
      for (int k = 0; k < (pads || rank < 2 ? 3 : 2); ++k) {
        sim::compute(2e-6);
        all_reduce(gradient, {.algorithm = "recursive_doubling"});
      }
    };
  };
  const auto name = [](int, int k) { return std::to_string(k); };
  return {with_names(run(4, "laptop", epoch(false), "D1"), name),
          with_names(run(4, "laptop", epoch(true)), name)};
}

// One step of four ranks: through a parameter server on rank 0, and with an average.
std::vector<Trace> server_and_average() {
  constexpr double gradient_s = 300e-6;
  constexpr std::int64_t weights = 50'000;
  return {run(5, "10gbe",
              [](int rank) {
                Tensor t = zeros({weights});
                for (int worker = 1; worker < 5; ++worker) {
                  if (rank == 0) send(t, worker);
                  if (rank == worker) recv(t, 0), sim::compute(gradient_s);
                }
                for (int worker = 1; worker < 5; ++worker) {
                  if (rank == 0) recv(t, worker);
                  if (rank == worker) send(t, 0);
                }
              }),
          run(4, "10gbe", [](int) {
            Tensor t = zeros({weights});
            sim::compute(gradient_s);
            all_reduce(t, ReduceOp::avg, {.algorithm = "ring"});
          })};
}

// Backward of four layers: each average is waited for at once, or runs while the next layer computes.
std::vector<Trace> averages() {
  const auto backward = [](bool waits) {
    return [=](int) {
      std::vector<Tensor> gradients;
      std::vector<Work> averages;
      for (int layer = 3; layer >= 0; --layer) {
        sim::compute(150e-6);
        gradients.push_back(zeros({20'000}));
        averages.push_back(
            all_reduce(gradients.back(), ReduceOp::avg, {.async_op = true, .algorithm = "ring"}));
        if (waits) averages.back().wait();
      }
      for (Work& average : averages) average.wait();
    };
  };
  const auto name = [](int, int k) { return std::to_string(3 - k); };
  return {with_names(run(2, "10gbe", backward(true)), name),
          with_names(run(2, "10gbe", backward(false)), name)};
}

// The weights of rank 0, two steps of two buckets each, an evaluation, and the sum of its counts.
std::vector<Trace> epoch() {
  const auto named = [](int, int k) { return std::string(k == 6 ? "E" : k % 3 == 0 ? "F" : "B"); };
  return {with_names(run(2, "10gbe",
                         [](int) {
                           Tensor weights = zeros({30'000}), counts = zeros({2});
                           broadcast(weights, 0, {.algorithm = "binomial"});
                           for (int step = 0; step < 2; ++step) {
                             Tensor buckets[]{zeros({40'000}), zeros({20'000})};
                             std::vector<Work> averages;
                             sim::compute(200e-6);
                             for (Tensor& bucket : buckets) {
                               sim::compute(200e-6);
                               averages.push_back(all_reduce(bucket, ReduceOp::avg,
                                                             {.async_op = true, .algorithm = "ring"}));
                             }
                             for (Work& average : averages) average.wait();
                           }
                           sim::compute(200e-6);
                           all_reduce(counts, {.algorithm = "recursive_doubling"});
                         }),
                     named)};
}

// A grid of dp=2 and tp=4: two layers forward and backward with sums along tp, a sum along dp, an update.
std::vector<Trace> grid() {
  return {with_names(run(8, "dgx-h100-ndr",
                         [](int rank) {
                           auto mesh = init_device_mesh({2, 4}, {"dp", "tp"});
                           Tensor t = full({128 * 1024}, rank);
                           const auto along = [&](const char* axis) {
                             all_reduce(t,
                                        {.group = mesh.get_group(axis), .algorithm = "recursive_doubling"});
                           };
                           for (int layer = 0; layer < 2; ++layer) sim::compute(5e-6), along("tp");
                           for (int layer = 0; layer < 2; ++layer) sim::compute(7e-6), along("tp");
                           along("dp");
                           sim::compute(2e-6);
                         }),
                     [](int, int k) { return k < 4 ? forward_then_backward(k, 2) : "U"; })};
}

// Three units, forward and backward, by lab 18's solution: without prefetch and with it.
std::vector<Trace> units() {
  constexpr int units = 3;
  const auto program = [](bool prefetches) {
    return [=](int) {
      const auto parameter = [] { return zeros({160, 160}, DType::f64); };
      std::vector<lab::Unit> model;
      for (int i = 0; i < units; ++i) model.push_back(lab::make_unit({parameter()}));
      const lab::Compute compute{[](std::size_t, const lab::Tensors&, const Tensor& input) {
                                   sim::compute(300e-6);
                                   return input;
                                 },
                                 [&](std::size_t, const lab::Tensors&, const Tensor& grad_output) {
                                   sim::compute(600e-6);
                                   return lab::Gradients{grad_output, {parameter()}};
                                 }};
      const Tensor x = zeros({160}, DType::f64);
      if (prefetches) {
        lab::prefetching_forward(model, x, compute);
        lab::prefetching_backward(model, x, compute);
      } else {
        lab::forward(model, x, compute);
        lab::backward(model, x, compute);
      }
    };
  };
  const auto name = [](int, int k) { return forward_then_backward(k, units); };
  return {with_names(run(2, "10gbe", program(false)), name),
          with_names(run(2, "10gbe", program(true)), name)};
}

// A pair of layers: the sum in forward is waited for, the one in backward runs in parallel with the weights'
// gradients.
std::vector<Trace> pair_of_layers() {
  constexpr double product_s = 15e-6;
  const auto name = [](int, int k) {
    constexpr const char* names[]{"F0", "F1", "B1", "B0", "W1", "W0"};
    return std::string(names[k]);
  };
  return {with_names(run(4, "dgx-h100-ndr",
                         [](int) {
                           Tensor y = zeros({512 * 1024}), of_x = zeros({512 * 1024});
                           sim::compute(product_s), sim::compute(product_s);
                           all_reduce(y, {.algorithm = "ring"});
                           sim::compute(product_s), sim::compute(product_s);
                           Work sum = all_reduce(of_x, {.async_op = true, .algorithm = "ring"});
                           sim::compute(product_s), sim::compute(product_s);
                           sum.wait();
                         }),
                     name)};
}

// Four stages, six micro-batches, by lab 20's solution: GPipe and 1F1B.
std::vector<Trace> schedules() {
  constexpr int ranks = 4, micro_batches = 6;
  const auto by = [](auto schedule) {
    const auto program = [=](int rank) {
      lab::Batch batch{std::vector<std::int64_t>(micro_batches, 1), {}};
      for (int j = 0; rank == 0 && j < micro_batches; ++j) batch.inputs.push_back(zeros({1, 1}, DType::f64));
      lab::Stage stage{1, 1, {}, {}, {}};
      stage.forward = [](int, const Tensor& input) { return sim::compute(1e-3), input.clone(); };
      stage.backward = [](int, const Tensor& gradient) { return sim::compute(2e-3), gradient.clone(); };
      stage.loss = [](int, const Tensor& output) { return lab::Loss{1, output.clone()}; };
      lab::step(schedule(rank, ranks, micro_batches), batch, stage);
    };
    return with_names(without_calls(run(ranks, "dgx-a100-hdr", program)), [=](int rank, int k) {
      const auto [kind, j] = schedule(rank, ranks, micro_batches)[static_cast<std::size_t>(k)];
      return (kind == lab::Kind::forward ? "F" : "B") + std::to_string(j);
    });
  };
  return {by(lab::gpipe), by(lab::one_f_one_b)};
}

}  // namespace

const std::vector<Picture>& training_pictures() {
  static const std::vector<Picture> all{
      {"13", samples, {.row = 26}},        {"14", server_and_average, {.row = 26}},
      {"15", averages, {.row = 34}},       {"16", epoch, {.row = 30}},
      {"17", grid, {.row = 26}},           {"18", units, {.row = 34}},
      {"19", pair_of_layers, {.row = 30}}, {"20", schedules, {.row = 24}},
  };
  return all;
}

}  // namespace dist::pictures
