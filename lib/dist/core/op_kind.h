// The operations of a process group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dist/core/types.h"

namespace dist {

enum class OpKind : std::uint8_t {
  send,
  recv,
  broadcast,
  reduce,
  all_reduce,
  scatter,
  gather,
  all_gather,
  reduce_scatter,
  all_to_all,
  barrier
};

inline constexpr std::size_t op_kind_count = static_cast<std::size_t>(OpKind::barrier) + 1;

std::string_view name(OpKind kind);  // "all_reduce"
constexpr bool is_collective(OpKind kind) { return kind != OpKind::send && kind != OpKind::recv; }

// What one rank moves in a call. Made for every call, but turned into text only when it is needed.
struct Amount {
  std::int64_t count = -1;  // elements; -1: this kind of call moves none
  DType dtype = DType::u8;

  std::string str() const;  // "16384 f32", or nothing
};

// "all_reduce #7 (4 f32)": a call as messages and reports quote it; `what` may be empty.
std::string describe_call(std::string_view name, std::uint64_t sequence, std::string_view what);

}  // namespace dist
