// Parts that several axes leave, one after the other: boxes, the way back to the whole tensor, the norm.
#include "dist/mesh/placed.h"

#include <cmath>

#include <gtest/gtest.h>

#include "dist/core/axes.h"
#include "dist/core/shape.h"
#include "dist/dist.h"
#include "dist/mesh/device_mesh.h"
#include "dist/nn/clip_grad_norm.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;

Tensor counted_up(const Shape& shape) {
  return arange(product(shape), DType::i32).to(DType::f64).view(shape);
}

struct Case {
  Shape whole;
  Placements along;                      // of "tp" and "fsdp"
  std::vector<std::int64_t> parts = {};  // of tp
};

// This rank's part, and its record.
Tensor divided(nn::Parameter& parameter, const Case& c, const DeviceMesh& mesh) {
  parameter.initialize(counted_up(c.whole));
  Placed& placed = place(parameter);
  Tensor part = parameter.value;
  for (std::size_t i = 0; i < c.along.size(); ++i) {
    const MeshAxis axis(static_cast<int>(i));
    placed.axes.push_back({.name = mesh.names()[i],
                           .group = mesh.get_group(axis),
                           .placement = c.along[i],
                           .grad_placement = c.along[i],
                           .parts = i == 0 ? c.parts : std::vector<std::int64_t>()});
    part = placed.part_along(i, part, mesh.get_local_rank(axis));
  }
  return part;
}

TEST(Placed, BoxesHaveThePartAndTheWholeComesBack) {
  const std::vector<Case> cases{{{7, 3}, {Shard(0), Shard(0)}},
                                {{7, 3}, {Shard(1), Shard(0)}},
                                {{12, 2}, {Shard(0), Shard(0)}, {4, 4, 4}},
                                {{10, 2}, {Shard(0), Shard(0)}, {6, 2, 2}},
                                {{1}, {Replicate(), Shard(0)}},
                                {{5}, {Replicate(), Replicate()}},
                                {{3, 0}, {Shard(0), Replicate()}}};
  for (const auto& [tp, fsdp] : {std::pair{1, 1}, {2, 1}, {1, 3}, {2, 2}, {2, 3}})
    run_ranks(tp * fsdp, [&, tp = tp, fsdp = fsdp](int) {
      const DeviceMesh mesh = init_device_mesh({tp, fsdp}, {"tp", "fsdp"});
      for (const Case& c : cases) {
        nn::Parameter parameter;
        const Tensor part = divided(parameter, c, mesh), whole = counted_up(c.whole);
        const Placed& placed = *placed_of(parameter);
        std::int64_t elements = 0;
        for (const Placed::Box& box : placed.boxes()) {
          Tensor mine = part, there = whole;
          for (std::size_t k = 0; k < c.whole.size(); ++k) {
            const auto axis = static_cast<std::int64_t>(k);
            mine = narrow(mine, axis, box.local.offset[k], box.local.shape[k]);
            there = narrow(there, axis, box.offset[k], box.local.shape[k]);
          }
          EXPECT_TRUE(equal(mine, there)) << to_string(c.whole);
          elements += mine.numel();
        }
        EXPECT_EQ(elements, part.numel()) << to_string(c.whole);
        EXPECT_TRUE(equal(placed.full_tensor(part), whole)) << to_string(c.whole);
      }
    });
}

TEST(Placed, AScalarIsOnTheFirstRank) {
  run_ranks(2, [](int rank) {
    nn::Parameter scalar;
    scalar.initialize(full({}, 3, DType::f64));
    place(scalar).axes.push_back({.name = "fsdp", .placement = Shard(0), .grad_placement = Shard(0)});
    const Placed& placed = *placed_of(scalar);
    EXPECT_EQ(placed.boxes().size(), rank == 0 ? 1U : 0U);
    const Tensor part = rank == 0 ? scalar.value : empty({0}, DType::f64);
    EXPECT_EQ(placed.full_tensor(part).shape(), Shape{});
    EXPECT_EQ(placed.full_tensor(part).item<double>(), 3);
  });
}

// Gradients 1, 2, 3 ... of parameters that are divided in every way, a frozen one, and a second copy.
TEST(Placed, TheNormCountsEachElementOnce) {
  run_ranks(4, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2, 2}, {"tp", "fsdp"});
    const std::vector<Case> cases{{{7, 3}, {Shard(0), Shard(0)}},
                                  {{4}, {Shard(0), Replicate()}},
                                  {{5}, {Replicate(), Shard(0)}},
                                  {{6}, {Replicate(), Replicate()}}};
    std::vector<std::unique_ptr<nn::Parameter>> all;
    std::vector<nn::NamedParameter> named;
    double squares = 0;
    for (const Case& c : cases) {
      nn::Parameter& parameter = *all.emplace_back(std::make_unique<nn::Parameter>());
      parameter.grad = divided(parameter, c, mesh);
      named.push_back({"p", &parameter});
      squares += sum(counted_up(c.whole) * counted_up(c.whole));
    }
    const auto add = [&]() -> nn::Parameter& {
      nn::Parameter& parameter = *all.emplace_back(std::make_unique<nn::Parameter>());
      parameter.initialize(ones({3}, DType::f64));
      parameter.grad = ones({3}, DType::f64);
      named.push_back({"other", &parameter});
      return parameter;
    };
    place(add()).copy_of = "p";
    add().requires_grad(false);
    const std::vector<Tensor> before{named[0].parameter->grad.clone(), named[4].parameter->grad.clone()};
    EXPECT_NEAR(nn::clip_grad_norm(named, 0.5), std::sqrt(squares), 1e-9);
    const double factor = 0.5 / (std::sqrt(squares) + 1e-6);
    EXPECT_NEAR(sum(named[0].parameter->grad), factor * sum(before[0]), 1e-9);
    EXPECT_NEAR(sum(named[4].parameter->grad), factor * sum(before[1]), 1e-9) << "copies are clipped, too";
    nn::Parameter& partial = add();
    place(partial).axes.push_back({.name = "tp",
                                   .group = mesh.get_group("tp"),
                                   .grad_placement = Partial(),
                                   .remedy = "call finish_gradients() first"});
    expect_error(Errc::invalid_argument,
                 {"\"other\" is still to be summed over the ranks of tp: call finish_gradients() first"},
                 [&] { (void)nn::clip_grad_norm(named, 1); });
    expect_error(Errc::invalid_argument,
                 {"Ddp: the ranks of its group have divided \"p\" among them along fsdp (Shard(0))"},
                 [&] { require_whole("Ddp", named, mesh.get_group("fsdp"), CallSite::current()); });
    require_whole("Ddp", std::span(named).subspan(3, 1), {}, CallSite::current());
    (void)rank;
  });
}

}  // namespace
}  // namespace dist
