// PartTable: a list of parts as a kernel's argument. Each part gets blocks of the grid in proportion to its
// size, so that one launch does many small parts, or few large ones, at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <cuda_runtime.h>

#include "dist/core/device/cuda/packs.cuh"
#include "dist/core/device/part_views.h"

namespace dist::cuda_kernels {

// What fits into one launch: a kernel's argument has at most 4 KiB.
inline constexpr int most_addresses = 232, most_parts = 64;

struct PartTable {
  struct Part {
    std::int64_t size;          // bytes or elements, as the kernel counts
    std::uint16_t first_block;  // its blocks are those before the next part's
    std::uint16_t first;        // its addresses: inputs, then outputs
    std::uint8_t n_ins, n_outs;
    std::uint8_t width;  // bytes of one access
  };
  std::byte* addresses[most_addresses];
  Part parts[most_parts];
  int n_parts, n_addresses;
};
static_assert(sizeof(PartTable) + 64 <= 4096);

// One block's part, and where this thread begins and how it advances in it.
struct PartOfBlock {
  const PartTable& table;
  const PartTable::Part& part;
  std::int64_t first, stride;

  __device__ const std::byte* in(int j) const { return table.addresses[part.first + j]; }
  __device__ std::byte* out(int j) const { return table.addresses[part.first + part.n_ins + j]; }
};

__device__ inline PartOfBlock part_of_block(const PartTable& table) {
  const auto block = static_cast<int>(blockIdx.x);
  int p = 0;
  while (p + 1 < table.n_parts && table.parts[p + 1].first_block <= block) ++p;
  const int begin = table.parts[p].first_block;
  const int end = p + 1 < table.n_parts ? table.parts[p + 1].first_block : static_cast<int>(gridDim.x);
  return {table, table.parts[p], static_cast<std::int64_t>(block - begin) * blockDim.x + threadIdx.x,
          static_cast<std::int64_t>(end - begin) * blockDim.x};
}

// Fills tables and launches each that is full, and the last.
template <class Launch>
class PartLauncher {
 public:
  PartLauncher(int accesses_per_thread, const Launch& launch)
      : per_thread_(accesses_per_thread), launch_(launch) {}

  // `size`: in the kernel's unit; `width`: bytes of one access.
  void add(const PartViews& views, std::int64_t size, std::size_t width) {
    const auto needed = static_cast<int>(views.ins.size() + views.outs.size());
    if (table_.n_parts == most_parts || table_.n_addresses + needed > most_addresses) flush();
    wanted_[static_cast<std::size_t>(table_.n_parts)] =
        blocks_for(static_cast<std::int64_t>(views.ins[0].bytes() / width) / per_thread_ + 1);
    table_.parts[table_.n_parts++] = {size,
                                      0,
                                      static_cast<std::uint16_t>(table_.n_addresses),
                                      static_cast<std::uint8_t>(views.ins.size()),
                                      static_cast<std::uint8_t>(views.outs.size()),
                                      static_cast<std::uint8_t>(width)};
    for (const auto& list : {views.ins, views.outs})
      for (const TensorView& view : list) table_.addresses[table_.n_addresses++] = view.data;
  }

  void flush() {
    if (table_.n_parts == 0) return;
    std::int64_t wanted = 0;
    for (int p = 0; p < table_.n_parts; ++p) wanted += wanted_[static_cast<std::size_t>(p)];
    const std::int64_t most = blocks_for(wanted * threads_per_block);
    int blocks = 0;
    for (int p = 0; p < table_.n_parts; ++p) {
      table_.parts[p].first_block = static_cast<std::uint16_t>(blocks);
      blocks +=
          static_cast<int>(std::max<std::int64_t>(1, wanted_[static_cast<std::size_t>(p)] * most / wanted));
    }
    launch_(table_, blocks);
    table_.n_parts = table_.n_addresses = 0;
  }

 private:
  const int per_thread_;
  const Launch& launch_;
  PartTable table_{};
  std::array<std::int64_t, most_parts> wanted_{};
};

}  // namespace dist::cuda_kernels
