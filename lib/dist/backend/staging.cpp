#include "dist/backend/staging.h"

#include <algorithm>
#include <cstdint>

#include "dist/core/error.h"
#include "dist/core/kernels.h"
#include "dist/core/log.h"
#include "dist/core/round_up.h"

namespace dist {

namespace {

constexpr std::size_t alignment = 64;  // bytes: each copy starts at a multiple of it

std::size_t room_for(const TensorList& tensors) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) bytes += round_up(tensors[i].bytes(), alignment);
  return bytes;
}

// Allocates the copies at `place`, which moves on; null: anywhere.
std::vector<Tensor> twins_of(const TensorList& tensors, bool with_elements, std::byte*& place) {
  std::vector<Tensor> twins;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView original = tensors[i];
    const Shape shape{original.count};
    twins.push_back(place ? Tensor::from_blob(place, shape, original.dtype)
                          : empty(shape, original.dtype, cpu));
    if (place) place += round_up(original.bytes(), alignment);
    if (with_elements) copy(twins.back().flat(), original);
  }
  return twins;
}

// Whether the operation reads what its outputs held before.
bool reads_outputs(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::all_reduce;
}

// Needed before copies, too: memory that is not registered must find the stream idle (Tensor::copy_).
void finish_current_stream(Device device) {
  device_api(device.type).synchronize(device, current_stream(device));
}

}  // namespace

std::byte* StagingRoom::at_least(std::size_t bytes) {
  if (begin_ && bytes <= bytes_) return begin_;
  registered_ = {};
  bytes_ = whole_pages(std::max(bytes, 2 * bytes_));
  memory_ = Tensor();  // first, because both may not fit
  memory_ = empty({static_cast<std::int64_t>(bytes_ + whole_pages(1))}, DType::u8, cpu);
  begin_ = reinterpret_cast<std::byte*>(whole_pages(reinterpret_cast<std::uintptr_t>(memory_.raw())));
  try {
    registered_ = RegisteredPages(device_, begin_, bytes_);
  } catch (const Error& error) {
    log(LogLevel::info, "copies through the host are slower than they could be: {}", error.what());
  }
  return begin_;
}

StagedOperation::StagedOperation(const Operation& original, StagingRoom* room)
    : original_(original), host_(original) {
  original_.own_tensors();
  finish_current_stream(original.device());
  std::byte* place = room ? room->at_least(room_for(original.inputs) + room_for(original.outputs)) : nullptr;
  host_.inputs = TensorList(twins_of(original.inputs, true, place));
  host_.outputs = TensorList(twins_of(original.outputs, reads_outputs(original.kind), place));
  finish_current_stream(original.device());
}

void StagedOperation::copy_back() {
  finish_current_stream(original_.device());
  for (std::size_t i = 0; i < original_.outputs.size(); ++i) copy(original_.outputs[i], host_.outputs[i]);
  finish_current_stream(original_.device());
}

}  // namespace dist
