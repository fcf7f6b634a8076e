// copy_parts: many copies in one launch. Each part is copied by the widest access that its addresses allow
// when they are counted from the same place; the bytes before and after go one by one.
#include <cstdint>

#include "dist/core/device/cuda/kernels.h"
#include "dist/core/device/cuda/part_table.cuh"

namespace dist::cuda_kernels {

namespace {

constexpr int in_flight = 4;  // accesses of a thread whose loads are under way before the first store

// As much as one instruction loads or stores.
struct alignas(16) Wide {
  std::uint64_t at[2];
};

template <class Unit>
__device__ void copy_units(const PartOfBlock& at, std::int64_t begin, std::int64_t units) {
  const auto* const in = reinterpret_cast<const Unit*>(at.in(0) + begin);
  for (std::int64_t i = at.first; i < units; i += in_flight * at.stride) {
    Unit loaded[in_flight];
#pragma unroll
    for (int j = 0; j < in_flight; ++j)
      if (i + j * at.stride < units) loaded[j] = in[i + j * at.stride];
    for (int k = 0; k < at.part.n_outs; ++k) {
      auto* const out = reinterpret_cast<Unit*>(at.out(k) + begin);
#pragma unroll
      for (int j = 0; j < in_flight; ++j)
        if (i + j * at.stride < units) out[i + j * at.stride] = loaded[j];
    }
  }
}

template <class Unit>
__device__ void copy_as(const PartOfBlock& at) {
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at.in(0)) % sizeof(Unit));
  const auto width = static_cast<std::int64_t>(sizeof(Unit)), size = at.part.size;
  const std::int64_t before = past == 0 ? 0 : width - past;
  const std::int64_t head = before < size ? before : size, units = (size - head) / width;
  copy_units<Unit>(at, head, units);
  const std::int64_t tail = head + units * width;
  for (std::int64_t i = at.first; i < head + size - tail; i += at.stride) {
    const std::int64_t byte = i < head ? i : tail + i - head;
    for (int k = 0; k < at.part.n_outs; ++k) at.out(k)[byte] = at.in(0)[byte];
  }
}

__global__ void copy_parts_kernel(const __grid_constant__ PartTable table) {
  const PartOfBlock at = part_of_block(table);
  switch (at.part.width) {
    case 16: return copy_as<Wide>(at);
    case 8: return copy_as<std::uint64_t>(at);
    case 4: return copy_as<std::uint32_t>(at);
    case 2: return copy_as<std::uint16_t>(at);
    default: return copy_as<std::uint8_t>(at);
  }
}

// The widest access for which all addresses are at the same distance from its boundaries.
std::size_t width_of(const PartViews& part) {
  const auto from = reinterpret_cast<std::uintptr_t>(part.ins[0].data);
  std::uintptr_t differ = 0;
  for (const TensorView& out : part.outs) differ |= reinterpret_cast<std::uintptr_t>(out.data) ^ from;
  std::size_t width = 16;
  while (differ % width != 0) width /= 2;
  return width;
}

}  // namespace

void copy_parts(cudaStream_t stream, std::span<const PartViews> parts) {
  const auto launch_table = [&](const PartTable& table, int blocks) {
    launch("copy_parts", parts[0].ins[0], blocks, stream, copy_parts_kernel, table);
  };
  if (only_loads()) return launch_table({}, 1);
  PartLauncher launcher(in_flight, launch_table);
  for (const PartViews& part : parts)
    if (part.ins[0].count > 0 && !part.outs.empty())
      launcher.add(part, static_cast<std::int64_t>(part.ins[0].bytes()), width_of(part));
  launcher.flush();
}

}  // namespace dist::cuda_kernels
