// What a oneDNN primitive reads or writes: memory in the layout that it prefers, with conversions from a
// plain tensor and back.
#pragma once

#include <optional>

#include <dnnl.hpp>

#include "dist/core/tensor.h"

namespace dist::nn::onednn {

const dnnl::engine& cpu_engine();

class Operand {
 public:
  // `liked` (the preferred layout) and `plain` describe the same elements.
  Operand(const dnnl::memory::desc& liked, const dnnl::memory::desc& plain);

  // The tensor's elements in the preferred layout: in place, or copied. Valid until the next call.
  const dnnl::memory& read(const dnnl::stream& stream, const Tensor& tensor);
  // The result of the last read() again.
  const dnnl::memory& last() const { return liked_; }

  // Where the primitive writes: the tensor itself if its layout is the preferred one, otherwise memory of
  // this object.
  const dnnl::memory& destination(const Tensor& tensor);
  // To be called after the primitive has written: brings the elements into the tensor.
  void write(const dnnl::stream& stream, const Tensor& tensor);

 private:
  bool is_liked_plain_;
  dnnl::memory liked_, plain_;
  std::optional<dnnl::reorder> to_liked_, to_plain_;
};

// A gradient: the primitive writes it to destination(), and add_to() adds it to a tensor.
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
