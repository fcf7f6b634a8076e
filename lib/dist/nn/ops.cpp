// ops_for(): the table of a device; and the one for tensors without values (core/values.h), which computes
// nothing: layers check and make their tensors as usual.
#include "dist/nn/ops.h"

#include <atomic>
#include <utility>

#include "dist/core/values.h"
#include "dist/nn/cpu_ops.h"
#include "dist/nn/cuda/make.h"
#include "dist/nn/runs.h"

namespace dist::nn {

namespace {

class NoConvolution final : public Convolution {
 public:
  NoConvolution(ConvolutionShape shape, DType dtype) : shape_(std::move(shape)), dtype_(dtype) {}
  Tensor forward(const Tensor& input, const Tensor&, const Tensor&) override {
    return empty(shape_.output(), dtype_, input.device());
  }
  void forget_input() override {}
  void backward_parameters(Tensor, Tensor, const Tensor&) override {}
  Tensor backward_input(const Tensor& grad_output, const Tensor&) override {
    return empty(shape_.input, dtype_, grad_output.device());
  }

 private:
  const ConvolutionShape shape_;
  const DType dtype_;
};

class NoOps final : public Ops {
 public:
  void matmul(Tensor, Matrix, Matrix, bool) const override {}
  void add_channels(Tensor, const Tensor&) const override {}
  void add_channel_sums(Tensor, const Tensor&) const override {}
  void relu(Tensor, const Tensor&) const override {}
  void relu_backward(Tensor, const Tensor&, const Tensor&) const override {}
  void max_pool(Tensor, Tensor, const Tensor&, const Windows&) const override {}
  void max_pool_backward(Tensor, const Tensor&, const Tensor&) const override {}
  void batch_norm(Tensor, const Tensor&, NormTensors, const NormOptions&) const override {}
  void batch_norm_backward(NormGrads, const Tensor&, const Tensor&, const NormTensors&, bool) const override {
  }
  std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape, DType dtype) const override {
    return std::make_unique<NoConvolution>(shape, dtype);
  }
  void sgd(std::span<const SgdItem>, double) const override {}
  void adam(std::span<const AdamItem>, const AdamStep&) const override {}
  void zero(std::span<const Tensor>) const override {}
  void squared_norm(Tensor, std::span<const Tensor>) const override {}
  void clip(std::span<const Tensor>, const Tensor&, double) const override {}

  void row_norm(Tensor, const Tensor&, RowNorm, double) const override {}
  void row_norm_backward(RowNormGrads, const Tensor&, const Tensor&, const RowNorm&) const override {}
  void activate(Tensor, const Tensor&, Activation) const override {}
  void activate_backward(Tensor, const Tensor&, const Tensor&, Activation) const override {}
  void gather_rows(Tensor, const Tensor&, const Tensor&, std::int64_t) const override {}
  void add_to_rows(Tensor, const Tensor&, const Tensor&, std::int64_t) const override {}
  void dropout(Tensor, const Tensor&, const DropoutDraw&) const override {}
  void cross_entropy(Tensor, Tensor, const Tensor&, std::int64_t, const Tensor&) const override {}
  void count_targets(Tensor, const Tensor&, std::int64_t) const override {}
  void attention(Heads, Tensor, const Heads&, const Heads&, const Heads&,
                 const AttentionOptions&) const override {}
  void attention_backward(AttentionGrads, const Heads&, const Heads&, const Tensor&, const Heads&,
                          const Heads&, const Heads&, const AttentionOptions&) const override {}
  void merge_attention(Tensor, Tensor, const Tensor&, const Tensor&, std::int64_t) const override {}
  void rotate(Heads, std::int64_t, double, int) const override {}
};

std::atomic<const Ops*> installed{nullptr};

}  // namespace

const Ops& ops_for(Device device) {
  static const NoOps no_ops;
  if (!floats_have_values) return no_ops;
  if (device.type == DeviceType::cpu) return cpu_ops();
  const Ops* const ops = installed.load();
  return ops ? *ops : cuda_ops();
}

bool has_gpu_ops() { return installed.load() != nullptr || has_cuda_ops(); }

void set_gpu_ops(const Ops* ops) { installed = ops; }

}  // namespace dist::nn
