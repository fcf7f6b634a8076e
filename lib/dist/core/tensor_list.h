// TensorList: the tensors of one call, or the equal parts of one tensor, as views. A call that blocks borrows
// the caller's tensors; work that goes on after the call has returned owns copies of them (which share the
// storage).
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dist/core/tensor.h"

namespace dist {

// Tensors of one dtype on one device.
class TensorList {
 public:
  TensorList() = default;
  TensorList(std::vector<Tensor> owned) { own(std::move(owned)); }
  TensorList(std::initializer_list<Tensor> owned) : TensorList(std::vector<Tensor>(owned)) {}
  // Replaces what the list held. The caller keeps the tensors in place while the list, or a copy of it, is
  // used.
  void borrow(std::span<const Tensor> tensors) {
    owned_.reset();
    look_at(tensors);
  }
  void borrow(const Tensor& tensor) { borrow({&tensor, 1}); }
  // The n equal parts of a tensor that the caller keeps; n divides its number of elements.
  void split(const Tensor& whole, int n) {
    borrow(whole);
    size_ = static_cast<std::size_t>(n);
    is_split_ = true;
    first_.count /= n;
  }

  // From now on owns what it had borrowed. Copies of a list own it together.
  void own();
  std::span<const Tensor> owned() const { return owned_ ? tensors_ : std::span<const Tensor>{}; }
  void replace(std::size_t i, Tensor by);  // the list owns its tensors and has no copy

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  DType dtype() const { return first_.dtype; }     // for a list that is not empty
  Device device() const { return first_.device; }  // the same
  TensorView operator[](std::size_t i) const {
    if (i == 0) return first_;
    if (!is_split_) return tensors_[i].flat();
    const std::size_t before = i * first_.bytes();
    return {first_.data ? first_.data + before : nullptr, first_.count, first_.dtype, first_.device};
  }

 private:
  void own(std::vector<Tensor> tensors);
  void look_at(std::span<const Tensor> tensors) {
    tensors_ = tensors;
    size_ = tensors.size();
    if (size_ > 0) first_ = tensors[0].flat();
    is_split_ = false;
  }

  std::shared_ptr<std::vector<Tensor>> owned_;  // null: the tensors are borrowed
  std::span<const Tensor> tensors_;
  std::size_t size_ = 0;
  TensorView first_;       // kept apart, because every call asks for it again and again
  bool is_split_ = false;  // a borrowed tensor, split into equal parts
};

}  // namespace dist
