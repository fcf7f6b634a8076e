// Convolution as matrix products: each image is unfolded so that every window becomes a column. forward()
// multiplies the weight by the columns; the backward passes multiply the other way and fold the columns back
// into an image.
#include <utility>

#include "dist/nn/loops.h"
#include "dist/nn/plain_ops.h"
#include "dist/nn/rounded_convolution.h"

namespace dist::nn {

namespace {

class PlainConvolution final : public Convolution {
 public:
  PlainConvolution(const Ops& ops, const ConvolutionShape& shape, DType dtype)
      : ops_(ops), shape_(shape), dtype_(dtype), out_(shape.output()) {}

  Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias) override {
    input_ = input;
    Tensor out = empty(out_, dtype_, cpu);
    for (std::int64_t n = 0; n < out_[0]; ++n)
      ops_.matmul(pixels(out[n]), {as_matrix(weight)}, {unfolded(input[n])}, false);
    if (bias.is_defined()) ops_.add_channels(out, bias);
    return out;
  }

  void forget_input() override { input_ = {}; }

  void backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) override {
    if (grad_bias.is_defined()) ops_.add_channel_sums(grad_bias, grad_output);
    const Tensor input = std::exchange(input_, {});
    for (std::int64_t n = 0; n < out_[0]; ++n)
      ops_.matmul(as_matrix(grad_weight), {pixels(grad_output[n])}, {unfolded(input[n]), true}, true);
  }

  Tensor backward_input(const Tensor& grad_output, const Tensor& weight) override {
    Tensor grad_input = zeros(shape_.input, dtype_, cpu);
    Tensor columns = empty(columns_shape(), dtype_, cpu);
    for (std::int64_t n = 0; n < out_[0]; ++n) {
      ops_.matmul(columns, {as_matrix(weight), true}, {pixels(grad_output[n])}, false);
      fold(columns, grad_input[n]);
    }
    return grad_input;
  }

 private:
  // One column per window; one row per channel and pixel of the kernel.
  Shape columns_shape() const {
    return {shape_.input[1] * shape_.windows.kernel * shape_.windows.kernel, out_[2] * out_[3]};
  }
  Tensor as_matrix(const Tensor& weight) const { return weight.view({shape_.out_channels, -1}); }
  Tensor pixels(const Tensor& picture) const { return picture.view({out_[1], out_[2] * out_[3]}); }

  // Calls f(column, pixel, count) for every run of windows along a line for which the kernel's pixel is
  // inside the image: element `column + i` of the columns is element `pixel + i * stride` of the image.
  template <class F>
  void for_each_run(const F& f) const {
    const Windows& w = shape_.windows;
    const std::int64_t height = shape_.input[2], width = shape_.input[3];
    std::int64_t row = 0;
    for (std::int64_t c = 0; c < shape_.input[1]; ++c) {
      for (std::int64_t ky = 0; ky < w.kernel; ++ky) {
        for (std::int64_t kx = 0; kx < w.kernel; ++kx, ++row) {
          const std::int64_t left = w.first_inside(kx), right = w.last_inside(kx, width);
          for (std::int64_t y = w.first_inside(ky); y < w.last_inside(ky, height) && left < right; ++y) {
            const std::int64_t line = c * height + y * w.stride + ky - w.padding;
            f((row * out_[2] + y) * out_[3] + left, line * width + left * w.stride + kx - w.padding,
              right - left);
          }
        }
      }
    }
  }

  Tensor unfolded(const Tensor& picture) const {
    Tensor columns = zeros(columns_shape(), dtype_, cpu);
    visit_computed(dtype_, [&]<class T>() {
      T* const to = elements<T>(columns);
      const T* const from = elements<T>(picture);
      for_each_run(
          [=, stride = shape_.windows.stride](std::int64_t column, std::int64_t pixel, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) to[column + i] = from[pixel + i * stride];
          });
    });
    return columns;
  }

  // The reverse: each pixel sums what its places in the columns hold.
  void fold(const Tensor& columns, Tensor picture) const {
    visit_computed(dtype_, [&]<class T>() {
      const T* const from = elements<T>(columns);
      T* const to = elements<T>(picture);
      for_each_run(
          [=, stride = shape_.windows.stride](std::int64_t column, std::int64_t pixel, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) to[pixel + i * stride] += from[column + i];
          });
    });
  }

  const Ops& ops_;
  const ConvolutionShape shape_;
  const DType dtype_;
  const Shape out_;
  Tensor input_;
};

}  // namespace

std::unique_ptr<Convolution> PlainOps::make_convolution(const ConvolutionShape& shape, DType dtype) const {
  if (dtype == DType::bf16) return make_rounded_convolution(make_convolution(shape, DType::f32));
  return std::make_unique<PlainConvolution>(*this, shape, dtype);
}

}  // namespace dist::nn
