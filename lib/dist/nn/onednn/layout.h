// What a oneDNN primitive reads or writes: memory in the layout that it likes best, and the way there from a
// plain tensor and back.
#pragma once

#include <optional>

#include <dnnl.hpp>

#include "dist/core/tensor.h"

namespace dist::nn::onednn {

const dnnl::engine& cpu_engine();

class Operand {
 public:
  // `liked` and `plain` describe the same elements.
  Operand(const dnnl::memory::desc& liked, const dnnl::memory::desc& plain);

  // The tensor's elements as the primitive likes them: where they are, or copied. Valid until the next call.
  const dnnl::memory& read(const dnnl::stream& stream, const Tensor& tensor);
  // What was read last, once more.
  const dnnl::memory& last() const { return liked_; }

  // Where the primitive writes: the tensor itself where its layout is liked, own memory otherwise.
  const dnnl::memory& destination(const Tensor& tensor);
  // After it has written: brings the elements into the tensor.
  void write(const dnnl::stream& stream, const Tensor& tensor);

 private:
  bool is_liked_plain_;
  dnnl::memory liked_, plain_;
  std::optional<dnnl::reorder> to_liked_, to_plain_;
};

// A gradient: written to own memory, then added to a tensor.
class Addend {
 public:
  Addend(const dnnl::memory::desc& liked, const dnnl::memory::desc& plain);
  const dnnl::memory& destination() const { return liked_; }
  void add_to(const dnnl::stream& stream, const Tensor& tensor);

 private:
  dnnl::memory liked_, plain_;
  dnnl::reorder add_;
};

}  // namespace dist::nn::onednn
