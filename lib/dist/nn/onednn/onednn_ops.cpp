// Ops by oneDNN: convolutions and matrix products in f32; everything else, and f64, uses the plain loops.
#include <dnnl.hpp>

#include "dist/core/shape.h"
#include "dist/nn/cpu_ops.h"
#include "dist/nn/onednn/call.h"
#include "dist/nn/onednn/convolution.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

class OneDnnOps final : public PlainOps {
 public:
  std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const override {
    if (dtype != DType::f32 || product(shape.input) == 0) return PlainOps::make_convolution(shape, dtype);
    return onednn::called([&] { return std::make_unique<onednn::OneDnnConvolution>(shape); });
  }

 protected:
  using PlainOps::gemm;
  void gemm(const Gemm& g, const float* a, const float* b, float* c) const override {
    if (g.m * g.n * g.k == 0) return PlainOps::gemm(g, a, b, c);
    const auto letter = [](bool transposed) { return transposed ? 'T' : 'N'; };
    onednn::called([&] {
      const auto status = dnnl::sgemm(letter(g.a_transposed), letter(g.b_transposed), g.m, g.n, g.k, 1, a,
                                      g.a_row, b, g.b_row, g.adds ? 1.F : 0.F, c, g.c_row);
      dnnl::error::wrap_c_api(static_cast<dnnl_status_t>(status), "could not multiply matrices");
    });
  }
};

}  // namespace

const Ops& cpu_ops() {
  static const OneDnnOps ops;
  return ops;
}

const char* describe_cpu_ops() { return "oneDNN"; }

}  // namespace dist::nn
