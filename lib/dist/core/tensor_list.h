// TensorList: the tensors of one call. While the call blocks they are the caller's own, borrowed; what goes
// on after the call has returned owns copies (which share the storage).
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
  static TensorList borrow(const Tensor& tensor) { return borrow({&tensor, 1}); }

  // Owns from now on what it had borrowed.
  void own() {
    if (!borrowed_.empty()) owned_.assign(borrowed_.begin(), borrowed_.end());
    borrowed_ = {};
  }

  std::span<const Tensor> all() const { return owned_.empty() ? borrowed_ : std::span<const Tensor>(owned_); }
  operator std::span<const Tensor>() const { return all(); }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  std::size_t size() const { return all().size(); }
  bool empty() const { return size() == 0; }
  const Tensor& operator[](std::size_t i) const { return all()[i]; }
  void replace(std::size_t i, Tensor by) { owned_[i] = std::move(by); }  // in a list that owns

 private:
  std::vector<Tensor> owned_;
  std::span<const Tensor> borrowed_;  // when nothing is owned
};

}  // namespace dist
