// Plans of convolutions: cuDNN is asked once for each shape, pass and precision.
#include "dist/nn/cuda/convolution_plans.h"

#include <array>

#include <gtest/gtest.h>

namespace dist::nn {
namespace {

TEST(ConvolutionPlans, AreChosenOncePerShapePassAndPrecision) {
  ConvolutionPlans plans;
  const ConvolutionShape first{{64, 1, 28, 28}, 16, {5, 1, 2}};
  std::array<ConvolutionShape, 6> shapes;
  shapes.fill(first);
  shapes[1].input[0] = 32;
  shapes[2].out_channels = 32;
  shapes[3].windows.kernel = 3;
  shapes[4].windows.stride = 2;
  shapes[5].windows.padding = 1;
  int asked = 0;
  for (int step = 0; step < 3; ++step) {
    int number = 0;
    for (const auto& shape : shapes)
      for (const ConvolutionPass pass :
           {ConvolutionPass::forward, ConvolutionPass::grad_weight, ConvolutionPass::grad_input})
        for (const bool tf32 : {false, true}) {
          const auto& plan =
              plans.of(shape, pass, tf32, [&] { return ConvolutionPlan{.algorithm = asked++}; });
          EXPECT_EQ(plan.algorithm, number++) << "step " << step;
        }
  }
  EXPECT_EQ(asked, 6 * 3 * 2);
}

TEST(ConvolutionPlans, ARefusedShapeIsAskedForAgain) {
  ConvolutionPlans plans;
  const ConvolutionShape shape{{1, 1, 3, 3}, 1, {3, 1, 0}};
  const auto refuse = []() -> ConvolutionPlan { throw 1; };
  EXPECT_THROW(plans.of(shape, ConvolutionPass::forward, true, refuse), int);
  EXPECT_EQ(
      plans.of(shape, ConvolutionPass::forward, true, [] { return ConvolutionPlan{.workspace_bytes = 5}; })
          .workspace_bytes,
      5U);
}

}  // namespace
}  // namespace dist::nn
