// A convolution by oneDNN. It describes the three primitives (forward, gradients of the parameters, gradient
// of the input) for the layouts that oneDNN prefers, makes the last two at their first use, and runs them.
#include "dist/nn/onednn/convolution.h"

#include "dist/nn/onednn/call.h"

namespace dist::nn::onednn {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc described(const Shape& shape, Tag tag) { return {shape, memory::data_type::f32, tag}; }
memory::desc plain(const Shape& shape) { return described(shape, shape.size() == 1 ? Tag::a : Tag::abcd); }
memory::desc any(const Shape& shape) { return described(shape, Tag::any); }

struct Geometry {
  memory::dims strides, padding;

  explicit Geometry(const Windows& w) : strides{w.stride, w.stride}, padding{w.padding, w.padding} {}
};

dnnl::primitive_attr with_own_scratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// `operation`: the arguments that say what Primitive does; oneDNN 2 first makes an object of them.
template <class Primitive, class... Operation>
typename Primitive::primitive_desc describe(const Operation&... operation) {
  using Desc = typename Primitive::primitive_desc;
#if DNNL_VERSION_MAJOR >= 3
  return Desc(cpu_engine(), operation..., with_own_scratch());
#else
  return Desc(typename Primitive::desc(operation...), with_own_scratch(), cpu_engine());
#endif
}

// `forward`: the primitive whose gradient this is.
template <class Primitive, class... Operation>
typename Primitive::primitive_desc describe_gradient(const dnnl::convolution_forward::primitive_desc& forward,
                                                     const Operation&... operation) {
  using Desc = typename Primitive::primitive_desc;
#if DNNL_VERSION_MAJOR >= 3
  return Desc(cpu_engine(), operation..., forward, with_own_scratch());
#else
  return Desc(typename Primitive::desc(operation...), with_own_scratch(), cpu_engine(), forward);
#endif
}

constexpr auto direct = dnnl::algorithm::convolution_direct;

dnnl::convolution_forward::primitive_desc describe_forward(const ConvolutionShape& shape) {
  const Geometry g(shape.windows);
  return describe<dnnl::convolution_forward>(dnnl::prop_kind::forward_training, direct, any(shape.input),
                                             any(shape.weight()), plain({shape.out_channels}),
                                             any(shape.output()), g.strides, g.padding, g.padding);
}

}  // namespace

void OneDnnConvolution::Step::run(const dnnl::stream& stream,
                                  std::unordered_map<int, memory> operands) const {
  operands.emplace(DNNL_ARG_SCRATCHPAD, scratch_);
  primitive_.execute(stream, operands);
}

OneDnnConvolution::OneDnnConvolution(const ConvolutionShape& shape)
    : shape_(shape),
      stream_(cpu_engine()),
      desc_(describe_forward(shape)),
      forward_{Step(dnnl::convolution_forward(desc_), desc_),
               {desc_.src_desc(), plain(shape.input)},
               {desc_.weights_desc(), plain(shape.weight())},
               {desc_.dst_desc(), plain(shape.output())}},
      no_bias_(dist::zeros({shape.out_channels}, DType::f32, cpu)) {}

// The input keeps the layout in which forward() has it.
OneDnnConvolution::ParameterGradients OneDnnConvolution::make_parameter_gradients() const {
  const Geometry g(shape_.windows);
  const Shape bias{shape_.out_channels};
  const auto desc = describe_gradient<dnnl::convolution_backward_weights>(
      desc_, direct, desc_.src_desc(), any(shape_.weight()), plain(bias), any(shape_.output()), g.strides,
      g.padding, g.padding);
  return {Step(dnnl::convolution_backward_weights(desc), desc),
          {desc.diff_dst_desc(), plain(shape_.output())},
          {desc.diff_weights_desc(), plain(shape_.weight())},
          {desc.diff_bias_desc(), plain(bias)}};
}

// So does its gradient: for images with one channel, the layout that oneDNN prefers has sixteen.
OneDnnConvolution::InputGradient OneDnnConvolution::make_input_gradient() const {
  const Geometry g(shape_.windows);
  const auto desc = describe_gradient<dnnl::convolution_backward_data>(
      desc_, direct, desc_.src_desc(), any(shape_.weight()), any(shape_.output()), g.strides, g.padding,
      g.padding);
  return {Step(dnnl::convolution_backward_data(desc), desc),
          {desc.diff_dst_desc(), plain(shape_.output())},
          {desc.weights_desc(), plain(shape_.weight())},
          {desc.diff_src_desc(), plain(shape_.input)}};
}

Tensor OneDnnConvolution::forward(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  Tensor out = empty(shape_.output(), DType::f32, cpu);
  input_ = input;
  const Tensor& shift = bias.is_defined() ? bias : no_bias_;
  called([&] {
    forward_.step.run(stream_, {{DNNL_ARG_SRC, forward_.input.read(stream_, input)},
                                {DNNL_ARG_WEIGHTS, forward_.weight.read(stream_, weight)},
                                {DNNL_ARG_BIAS, memory(plain(shift.shape()), cpu_engine(), shift.raw())},
                                {DNNL_ARG_DST, forward_.output.destination(out)}});
    forward_.output.write(stream_, out);
  });
  return out;
}

void OneDnnConvolution::backward_parameters(Tensor grad_weight, Tensor grad_bias, const Tensor& grad_output) {
  called([&] {
    if (!parameter_gradients_) parameter_gradients_.emplace(make_parameter_gradients());
    ParameterGradients& p = *parameter_gradients_;
    p.step.run(stream_, {{DNNL_ARG_SRC, forward_.input.last()},
                         {DNNL_ARG_DIFF_DST, p.grad_output.read(stream_, grad_output)},
                         {DNNL_ARG_DIFF_WEIGHTS, p.weight.destination()},
                         {DNNL_ARG_DIFF_BIAS, p.bias.destination()}});
    if (grad_bias.is_defined()) p.bias.add_to(stream_, grad_bias);
    p.weight.add_to(stream_, grad_weight);
  });
  input_ = {};
}

Tensor OneDnnConvolution::backward_input(const Tensor& grad_output, const Tensor& weight) {
  Tensor grad_input = empty(shape_.input, DType::f32, cpu);
  called([&] {
    if (!input_gradient_) input_gradient_.emplace(make_input_gradient());
    InputGradient& i = *input_gradient_;
    i.step.run(stream_, {{DNNL_ARG_DIFF_DST, i.grad_output.read(stream_, grad_output)},
                         {DNNL_ARG_WEIGHTS, i.weight.read(stream_, weight)},
                         {DNNL_ARG_DIFF_SRC, i.grad_input.destination(grad_input)}});
    i.grad_input.write(stream_, grad_input);
  });
  return grad_input;
}

}  // namespace dist::nn::onednn
