// Plans of convolutions: the algorithm that cuDNN takes for a shape and a pass, and the scratch memory that
// it needs. Asking cuDNN takes as long as several kernels, so it is asked once and the answer is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "dist/nn/windows.h"

namespace dist::nn {

enum class ConvolutionPass : std::uint8_t { forward, grad_weight, grad_input };

struct ConvolutionPlan {
  int algorithm = 0;  // cuDNN's number for it; each pass has numbers of its own
  int math = 0;       // cuDNN's number for the kind of multiplication
  std::size_t workspace_bytes = 0;
};

// Those of one handle. All are of f32.
class ConvolutionPlans {
 public:
  // Calls choose(), which returns a plan, the first time that this shape, pass and precision are asked for.
  // The reference stays valid.
  template <class Choose>
  const ConvolutionPlan& of(const ConvolutionShape& shape, ConvolutionPass pass, bool tf32,
                            const Choose& choose) {
    const auto& [kernel, stride, padding] = shape.windows;
    const Key key{shape.input, shape.out_channels, kernel, stride, padding, pass, tf32};
    const auto found = plans_.find(key);
    return found != plans_.end() ? found->second : plans_.emplace(key, choose()).first->second;
  }

 private:
  using Key =
      std::tuple<Shape, std::int64_t, std::int64_t, std::int64_t, std::int64_t, ConvolutionPass, bool>;
  std::map<Key, ConvolutionPlan> plans_;
};

}  // namespace dist::nn
