// Tensors that share the storage of another one.
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/core/tensor.h"

namespace dist {

Tensor Tensor::view(Shape shape, Caller at) const {
  const std::int64_t count = numel(at);
  infer_axis(shape, count, at);
  if (checked_numel(shape, dtype(), at) != count)
    fail(Errc::invalid_argument, "view({}) at {}: this shape has {}, the tensor of shape {} has {}",
         to_string(shape), at.str(), counted(product(shape), "element"), to_string(shape_), count);
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::narrow(std::int64_t start, std::int64_t length, Caller at) const {
  check_defined(*this, at);
  if (shape_.empty()) fail(Errc::invalid_argument, "narrow at {}: a scalar has no axis to narrow", at.str());
  if (start < 0 || length < 0 || start > shape_[0] || length > shape_[0] - start)
    fail(Errc::invalid_argument, "narrow({}, {}) at {}: the first axis of shape {} has {}", start, length,
         at.str(), to_string(shape_), counted(shape_[0], "entry", "entries"));
  Tensor t = *this;
  const std::int64_t row = shape_[0] == 0 ? 0 : numel() / shape_[0];
  t.flat_ = flat_.slice(start * row, length * row);
  t.shape_[0] = length;
  return t;
}

Tensor Tensor::operator[](Operand<std::int64_t> operand) const {
  const auto& [index, at] = operand;
  check_defined(*this, at);
  if (shape_.empty())
    fail(Errc::invalid_argument, "[{}] at {}: a scalar has no axis to index", index, at.str());
  const std::int64_t from_front = index < 0 ? index + shape_[0] : index;
  if (from_front < 0 || from_front >= shape_[0])
    fail(Errc::invalid_argument, "[{}] at {}: the first axis of shape {} has {}", index, at.str(),
         to_string(shape_), counted(shape_[0], "entry", "entries"));
  Tensor t = narrow(from_front, 1);
  t.shape_.erase(t.shape_.begin());
  return t;
}

std::vector<Tensor> Tensor::chunk(std::int64_t n, Caller at) const {
  check_defined(*this, at);
  if (n < 1) fail(Errc::invalid_argument, "chunk({}) at {}: at least one chunk is needed", n, at.str());
  if (shape_.empty())
    fail(Errc::invalid_argument, "chunk({}) at {}: a scalar has no axis to divide", n, at.str());
  std::vector<Tensor> chunks;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t lo = chunk_begin(shape_[0], i, n), hi = chunk_begin(shape_[0], i + 1, n);
    chunks.push_back(narrow(lo, hi - lo, at));
  }
  return chunks;
}

}  // namespace dist
