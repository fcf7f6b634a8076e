// The operations of a process group.
#pragma once

#include <cstdint>
#include <string_view>

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

std::string_view name(OpKind kind);  // "all_reduce"
constexpr bool is_collective(OpKind kind) { return kind != OpKind::send && kind != OpKind::recv; }

}  // namespace dist
