// TensorList: the tensors of one call, or the equal parts of one, as views. While the call blocks they are
// the caller's own, borrowed; what goes on after the call has returned owns copies (which share the storage).
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "dist/core/tensor.h"

namespace dist {

class TensorList {
 public:
  TensorList() = default;
  TensorList(std::vector<Tensor> owned) : owned_(std::move(owned)) {}
  TensorList(std::initializer_list<Tensor> owned) : owned_(owned) {}
  // The caller keeps them where they are while the list, or a copy of it, is used.
  static TensorList borrow(std::span<const Tensor> tensors) {
    TensorList list;
    list.borrowed_ = tensors;
    return list;
  }
  static TensorList borrow(const Tensor& tensor) {
    TensorList list = borrow({&tensor, 1});
    list.is_one_ = true;
    list.one_ = tensor.flat();
    return list;
  }
  // The n equal parts of a tensor that the caller keeps; n divides its number of elements.
  static TensorList split(const Tensor& whole, int n) {
    TensorList list = borrow(whole);
    list.parts_ = static_cast<std::size_t>(n);
    return list;
  }

  // Owns from now on what it had borrowed.
  void own();
  std::span<const Tensor> owned() const { return owned_; }
  void replace(std::size_t i, Tensor by) {  // in a list that owns
    owned_[i] = std::move(by);
    is_one_ = false;
  }

  std::size_t size() const {
    if (parts_ > 0) return parts_;
    return owned_.empty() ? borrowed_.size() : owned_.size();
  }
  bool empty() const { return size() == 0; }
  TensorView operator[](std::size_t i) const {
    if (parts_ == 0) return is_one_ ? one_ : (owned_.empty() ? borrowed_[i] : owned_[i]).flat();
    const std::int64_t each = one_.count / static_cast<std::int64_t>(parts_);
    return one_.slice(static_cast<std::int64_t>(i) * each, each);
  }

 private:
  std::vector<Tensor> owned_;
  std::span<const Tensor> borrowed_;  // when nothing is owned
  std::size_t parts_ = 0;             // of the borrowed one; 0: it is not split
  bool is_one_ = false;               // a single tensor, borrowed or owned, and its view
  TensorView one_;
};

}  // namespace dist
