// The memory of tensors: one allocation on some device, freed with the last Tensor over it.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "dist/core/types.h"

namespace dist {

class Storage {
 public:
  // Owned memory. Zero bytes get a valid address too, so that pointers are never null.
  Storage(Device device, std::size_t bytes);
  // The caller's memory; `free` gives it back.
  Storage(void* borrowed, std::function<void(void*)> free) : data_(borrowed), free_(std::move(free)) {}
  ~Storage() {
    if (free_) free_(data_);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  const char* caution = nullptr;  // Tensor::caution()

 private:
  void* data_ = nullptr;
  std::function<void(void*)> free_;  // empty: nothing to do, the caller frees the memory
};

}  // namespace dist
