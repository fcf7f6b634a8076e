#include "dist/nn/onednn/layout.h"

namespace dist::nn::onednn {

namespace {

dnnl::memory without_memory(const dnnl::memory::desc& desc) { return {desc, cpu_engine(), DNNL_MEMORY_NONE}; }

dnnl::reorder adding(const dnnl::memory& from, const dnnl::memory& to) {
  dnnl::post_ops sum;
  sum.append_sum();
  dnnl::primitive_attr attr;
  attr.set_post_ops(sum);
  return dnnl::reorder(dnnl::reorder::primitive_desc(from, to, attr));
}

}  // namespace

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

Operand::Operand(const dnnl::memory::desc& liked, const dnnl::memory::desc& plain)
    : is_liked_plain_(liked == plain),
      liked_(is_liked_plain_ ? without_memory(liked) : dnnl::memory(liked, cpu_engine())),
      plain_(without_memory(plain)) {
  if (is_liked_plain_) return;
  to_liked_.emplace(plain_, liked_);
  to_plain_.emplace(liked_, plain_);
}

const dnnl::memory& Operand::read(const dnnl::stream& stream, const Tensor& tensor) {
  if (is_liked_plain_) {
    liked_.set_data_handle(tensor.raw());
  } else {
    plain_.set_data_handle(tensor.raw());
    to_liked_->execute(stream, plain_, liked_);
  }
  return liked_;
}

const dnnl::memory& Operand::destination(const Tensor& tensor) {
  if (is_liked_plain_) liked_.set_data_handle(tensor.raw());
  return liked_;
}

void Operand::write(const dnnl::stream& stream, const Tensor& tensor) {
  if (is_liked_plain_) return;
  plain_.set_data_handle(tensor.raw());
  to_plain_->execute(stream, liked_, plain_);
}

Addend::Addend(const dnnl::memory::desc& liked, const dnnl::memory::desc& plain)
    : liked_(liked, cpu_engine()), plain_(without_memory(plain)), add_(adding(liked_, plain_)) {}

void Addend::add_to(const dnnl::stream& stream, const Tensor& tensor) {
  plain_.set_data_handle(tensor.raw());
  add_.execute(stream, liked_, plain_);
}

}  // namespace dist::nn::onednn
