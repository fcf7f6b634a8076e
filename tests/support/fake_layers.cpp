#include "support/fake_layers.h"

#include <functional>
#include <utility>
#include <vector>

#include "unit/nn/kernel_ops.h"

namespace dist::test {

namespace {

using nn::Heads;

// Device tensors as the streams see them.
class Located {
 public:
  explicit Located(FakeDevice& device) : device_(device) {}

  Tensor operator()(const Tensor& t) const {
    if (!t.is_defined() || t.device() == cpu) return t;
    return Tensor::from_blob(device_.on_host(t.device(), t.flat()).data, t.shape(), t.dtype());
  }
  Heads operator()(const Heads& heads) const {
    Heads here = heads;
    here.of = (*this)(heads.of);
    return here;
  }
  nn::RowNorm operator()(const nn::RowNorm& n) const {
    return {(*this)(n.weight), (*this)(n.bias), (*this)(n.mean), (*this)(n.invstd)};
  }
  nn::NormTensors operator()(const nn::NormTensors& n) const {
    return {(*this)(n.weight),      (*this)(n.bias), (*this)(n.running_mean),
            (*this)(n.running_var), (*this)(n.mean), (*this)(n.invstd)};
  }
  nn::DropoutDraw operator()(const nn::DropoutDraw& draw, Device device) const {
    nn::DropoutDraw here = draw;
    auto* const step = reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(draw.step));
    if (step)
      here.step =
          reinterpret_cast<const std::int64_t*>(device_.on_host(device, {step, 1, DType::i64, device}).data);
    return here;
  }
  nn::AttentionOptions operator()(const nn::AttentionOptions& options, Device device) const {
    nn::AttentionOptions here = options;
    here.dropout = (*this)(options.dropout, device);
    return here;
  }
  std::vector<Tensor> operator()(std::span<const Tensor> list) const {
    std::vector<Tensor> here;
    for (const Tensor& t : list) here.push_back((*this)(t));
    return here;
  }

 private:
  FakeDevice& device_;
};

const nn::KernelOps& kernels() {
  static const nn::KernelOps ops;
  return ops;
}

// Plain loops, which keep the input where the device has it.
class FakeConvolution final : public nn::Convolution {
 public:
  FakeConvolution(FakeDevice& device, const nn::ConvolutionShape& shape, DType dtype)
      : device_(device), shape_(shape), plain_(kernels().make_convolution(shape, dtype)) {}

  Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias) override {
    const Located at(device_);
    last_ = input.device();
    input_ = input;
    Tensor out = empty(shape_.output(), input.dtype(), input.device());
    run(input.device(), [plain = plain_, to = at(out), x = at(input), w = at(weight),
                         b = at(bias)]() mutable { to.copy_(plain->forward(x, w, b)); });
    return out;
  }
  void forget_input() override {
    input_ = {};
    run(last_, [plain = plain_] { plain->forget_input(); });
  }
  void backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) override {
    const Located at(device_);
    run(grad_output.device(), [plain = plain_, w = at(grad_weight), b = at(grad_bias), g = at(grad_output)] {
      plain->backward_parameters(w, b, g);
    });
  }
  Tensor backward_input(const Tensor& grad_output, const Tensor& weight) override {
    const Located at(device_);
    Tensor grad_input = empty(shape_.input, grad_output.dtype(), grad_output.device());
    run(grad_output.device(), [plain = plain_, to = at(grad_input), g = at(grad_output),
                               w = at(weight)]() mutable { to.copy_(plain->backward_input(g, w)); });
    return grad_input;
  }

 private:
  void run(Device device, std::function<void()> work) const {
    device_.enqueue(device, current_stream(device), std::move(work));
  }

  FakeDevice& device_;
  const nn::ConvolutionShape shape_;
  const std::shared_ptr<nn::Convolution> plain_;
  Device last_ = cpu;
  Tensor input_;  // its memory must not be another tensor's before backward_parameters()
};

class FakeLayers final : public nn::Ops {
 public:
  explicit FakeLayers(FakeDevice& device) : device_(device), at(device) {}

  void matmul(Tensor out, Matrix a, Matrix b, bool adds) const override {
    run(out, [o = at(out), x = at(a.of), y = at(b.of), xt = a.transposed, yt = b.transposed, adds] {
      kernels().matmul(o, {x, xt}, {y, yt}, adds);
    });
  }
  void add_channels(Tensor out, const Tensor& of_channels) const override {
    run(out, [o = at(out), c = at(of_channels)] { kernels().add_channels(o, c); });
  }
  void add_channel_sums(Tensor of_channels, const Tensor& in) const override {
    run(in, [c = at(of_channels), i = at(in)] { kernels().add_channel_sums(c, i); });
  }
  void relu(Tensor out, const Tensor& in) const override {
    run(out, [o = at(out), i = at(in)] { kernels().relu(o, i); });
  }
  void relu_backward(Tensor out, const Tensor& grad, const Tensor& result) const override {
    run(out, [o = at(out), g = at(grad), r = at(result)] { kernels().relu_backward(o, g, r); });
  }
  void max_pool(Tensor out, Tensor winners, const Tensor& in, const nn::Windows& windows) const override {
    run(out, [o = at(out), w = at(winners), i = at(in), windows] { kernels().max_pool(o, w, i, windows); });
  }
  void max_pool_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& winners) const override {
    run(grad_in,
        [i = at(grad_in), o = at(grad_out), w = at(winners)] { kernels().max_pool_backward(i, o, w); });
  }
  void batch_norm(Tensor out, const Tensor& in, nn::NormTensors norm,
                  const nn::NormOptions& options) const override {
    run(out, [o = at(out), i = at(in), n = at(norm), options] { kernels().batch_norm(o, i, n, options); });
  }
  void batch_norm_backward(NormGrads grads, const Tensor& grad_out, const Tensor& in,
                           const nn::NormTensors& norm, bool training) const override {
    const NormGrads here{at(grads.weight), at(grads.bias), at(grads.in)};
    run(in, [here, g = at(grad_out), i = at(in), n = at(norm), training] {
      kernels().batch_norm_backward(here, g, i, n, training);
    });
  }
  std::unique_ptr<nn::Convolution> make_convolution(const nn::ConvolutionShape& shape,
                                                    DType dtype) const override {
    return std::make_unique<FakeConvolution>(device_, shape, dtype);
  }
  void sgd(std::span<const nn::SgdItem> list, double momentum) const override {
    if (list.empty()) return;
    std::vector<nn::SgdItem> here;
    for (const nn::SgdItem& one : list)
      here.push_back(
          {at(one.value), at(one.grad), at(one.velocity), one.lr, one.weight_decay, at(one.rounded)});
    run(list[0].value, [here, momentum] { kernels().sgd(here, momentum); });
  }
  void adam(std::span<const nn::AdamItem> list, const nn::AdamStep& step) const override {
    if (list.empty()) return;
    std::vector<nn::AdamItem> here;
    for (const nn::AdamItem& one : list)
      here.push_back(
          {at(one.value), at(one.grad), at(one.m), at(one.v), one.lr, one.weight_decay, at(one.rounded)});
    run(list[0].value, [here, step] { kernels().adam(here, step); });
  }
  void zero(std::span<const Tensor> list) const override {
    if (!list.empty()) run(list[0], [here = at(list)] { kernels().zero(here); });
  }
  void squared_norm(Tensor out, std::span<const Tensor> list) const override {
    run(out, [o = at(out), here = at(list)] { kernels().squared_norm(o, here); });
  }
  void clip(std::span<const Tensor> list, const Tensor& squared_norm, double max_norm) const override {
    run(squared_norm,
        [here = at(list), s = at(squared_norm), max_norm] { kernels().clip(here, s, max_norm); });
  }

  void row_norm(Tensor out, const Tensor& in, nn::RowNorm norm, double eps) const override {
    run(out, [o = at(out), i = at(in), n = at(norm), eps] { kernels().row_norm(o, i, n, eps); });
  }
  void row_norm_backward(nn::RowNormGrads grads, const Tensor& grad_out, const Tensor& in,
                         const nn::RowNorm& norm) const override {
    const nn::RowNormGrads here{at(grads.weight), at(grads.bias), at(grads.in)};
    run(in,
        [here, g = at(grad_out), i = at(in), n = at(norm)] { kernels().row_norm_backward(here, g, i, n); });
  }
  void activate(Tensor out, const Tensor& in, nn::Activation activation) const override {
    run(out, [o = at(out), i = at(in), activation] { kernels().activate(o, i, activation); });
  }
  void activate_backward(Tensor grad_in, const Tensor& grad_out, const Tensor& in,
                         nn::Activation activation) const override {
    run(in, [gi = at(grad_in), g = at(grad_out), i = at(in), activation] {
      kernels().activate_backward(gi, g, i, activation);
    });
  }
  void gather_rows(Tensor out, const Tensor& table, const Tensor& indices,
                   std::int64_t first) const override {
    run(out, [o = at(out), t = at(table), i = at(indices), first] { kernels().gather_rows(o, t, i, first); });
  }
  void add_to_rows(Tensor table, const Tensor& grad, const Tensor& indices,
                   std::int64_t first) const override {
    run(table,
        [t = at(table), g = at(grad), i = at(indices), first] { kernels().add_to_rows(t, g, i, first); });
  }
  void dropout(Tensor out, const Tensor& in, const nn::DropoutDraw& draw) const override {
    run(out, [o = at(out), i = at(in), d = at(draw, out.device())] { kernels().dropout(o, i, d); });
  }
  void cross_entropy(Tensor logits, Tensor losses, const Tensor& targets, std::int64_t ignored,
                     const Tensor& count) const override {
    run(logits, [x = at(logits), l = at(losses), t = at(targets), ignored, n = at(count)] {
      kernels().cross_entropy(x, l, t, ignored, n);
    });
  }
  void count_targets(Tensor count, const Tensor& targets, std::int64_t ignored) const override {
    run(count, [n = at(count), t = at(targets), ignored] { kernels().count_targets(n, t, ignored); });
  }
  void attention(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                 const nn::AttentionOptions& options) const override {
    run(lse, [o = at(out), l = at(lse), x = at(q), y = at(k), z = at(v), a = at(options, lse.device())] {
      kernels().attention(o, l, x, y, z, a);
    });
  }
  void attention_backward(AttentionGrads grads, const Heads& grad_out, const Heads& out, const Tensor& lse,
                          const Heads& q, const Heads& k, const Heads& v,
                          const nn::AttentionOptions& options) const override {
    const AttentionGrads here{at(grads.q), at(grads.k), at(grads.v)};
    run(lse, [here, g = at(grad_out), o = at(out), l = at(lse), x = at(q), y = at(k), z = at(v),
              a = at(options, lse.device())] { kernels().attention_backward(here, g, o, l, x, y, z, a); });
  }
  void merge_attention(Tensor out, Tensor lse, const Tensor& part, const Tensor& part_lse,
                       std::int64_t first) const override {
    run(part, [o = at(out), l = at(lse), p = at(part), pl = at(part_lse), first] {
      kernels().merge_attention(o, l, p, pl, first);
    });
  }
  void rotate(Heads heads, std::int64_t first_position, double base, int direction) const override {
    run(heads.of, [h = at(heads), first_position, base, direction] {
      kernels().rotate(h, first_position, base, direction);
    });
  }

 private:
  void run(const Tensor& on, std::function<void()> work) const {
    device_.enqueue(on.device(), current_stream(on.device()), std::move(work));
  }

  FakeDevice& device_;
  const Located at;  // NOLINT: read as a verb
};

}  // namespace

FakeLayersGuard::FakeLayersGuard(const FakeDeviceOptions& options)
    : device_(options), ops_(std::make_unique<FakeLayers>(*device_.operator->())) {
  nn::set_gpu_ops(ops_.get());
}

FakeLayersGuard::~FakeLayersGuard() { nn::set_gpu_ops(nullptr); }

}  // namespace dist::test
