#include "dist/core/tensor_list.h"

namespace dist {

void TensorList::own(std::vector<Tensor> tensors) {
  owned_ = std::make_shared<std::vector<Tensor>>(std::move(tensors));
  look_at(*owned_);
}

void TensorList::own() {
  if (owned_ || empty()) return;
  if (!is_split_) return own({tensors_.begin(), tensors_.end()});
  const Tensor flat = tensors_[0].view({tensors_[0].numel()});
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < size_; ++i)
    parts.push_back(flat.narrow(static_cast<std::int64_t>(i) * first_.count, first_.count));
  own(std::move(parts));
}

void TensorList::replace(std::size_t i, Tensor by) {
  (*owned_)[i] = std::move(by);
  look_at(*owned_);
}

}  // namespace dist
