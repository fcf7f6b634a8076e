// Ops by oneDNN: convolutions and matrix products in f32, and products in bf16 on CPUs that have instructions
// for them; everything else, and f64, uses the plain loops.
#include <dnnl.hpp>

#include "dist/core/shape.h"
#include "dist/nn/cpu_ops.h"
#include "dist/nn/onednn/call.h"
#include "dist/nn/onednn/convolution.h"
#include "dist/nn/onednn/layout.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

namespace {

using dnnl::memory;

// Two axes; a transposed one is the same memory, read by columns.
memory operand(const Tensor& tensor, bool transposed) {
  using Tag = memory::format_tag;
  const std::int64_t rows = tensor.size(0), columns = tensor.size(1);
  const memory::desc desc = transposed ? memory::desc({columns, rows}, memory::data_type::bf16, Tag::ba)
                                       : memory::desc({rows, columns}, memory::data_type::bf16, Tag::ab);
  return {desc, onednn::cpu_engine(), tensor.raw()};
}

// oneDNN makes the primitive for some shapes once and keeps it.
dnnl::matmul make_matmul(const memory& a, const memory& b, const memory& out, bool adds) {
  dnnl::primitive_attr attr;
  if (adds) {
    dnnl::post_ops sum;
    sum.append_sum();
    attr.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul({onednn::cpu_engine(), a.get_desc(), b.get_desc(), out.get_desc(), attr});
#else
  return dnnl::matmul({{a.get_desc(), b.get_desc(), out.get_desc()}, attr, onednn::cpu_engine()});
#endif
}

bool multiplies_bf16() {
  static const bool does = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_bf16;
  return does;
}

class OneDnnOps final : public PlainOps {
 public:
  void matmul(Tensor out, Matrix a, Matrix b, bool adds) const override {
    if (out.dtype() != DType::bf16 || !multiplies_bf16() || out.numel() == 0 || a.of.numel() == 0)
      return PlainOps::matmul(out, a, b, adds);
    onednn::called([&] {
      const memory left = operand(a.of, a.transposed), right = operand(b.of, b.transposed),
                   to = operand(out, false);
      dnnl::stream stream(onednn::cpu_engine());
      make_matmul(left, right, to, adds)
          .execute(stream, {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, to}});
      stream.wait();
    });
  }
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
