// ViewList: one view per rank, or one per tensor. A list of at most `few` needs no allocation, and no element
// is initialised before set().
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "dist/core/view.h"

namespace dist {

class ViewList {
 public:
  [[gnu::always_inline]] explicit ViewList(std::size_t size)
      : data_(size > few ? allocate(size) : reinterpret_cast<TensorView*>(room_)), size_(size) {}
  ViewList(const ViewList&) = delete;
  ViewList& operator=(const ViewList&) = delete;

  std::size_t size() const { return size_; }
  // Each must be set before it is read.
  void set(std::size_t i, const TensorView& view) { std::construct_at(data_ + i, view); }
  const TensorView& operator[](std::size_t i) const { return data_[i]; }
  operator std::span<const TensorView>() const { return {data_, size_}; }

 private:
  static constexpr std::size_t few = 8;
  // A separate function, so that small lists cost no call.
  [[gnu::noinline]] TensorView* allocate(std::size_t size) {
    many_ = std::make_unique<TensorView[]>(size);
    return many_.get();
  }
  alignas(TensorView) std::byte room_[few * sizeof(TensorView)];
  std::unique_ptr<TensorView[]> many_;
  TensorView* data_;
  std::size_t size_;
};

inline std::size_t total_bytes(std::span<const TensorView> views) {
  std::size_t bytes = 0;
  for (const TensorView& view : views) bytes += view.bytes();
  return bytes;
}

}  // namespace dist
