#include "dist/core/op_kind.h"

#include <fmt/format.h>

namespace dist {

std::string_view name(OpKind kind) {
  switch (kind) {
    case OpKind::send: return "send";
    case OpKind::recv: return "recv";
    case OpKind::broadcast: return "broadcast";
    case OpKind::reduce: return "reduce";
    case OpKind::all_reduce: return "all_reduce";
    case OpKind::scatter: return "scatter";
    case OpKind::gather: return "gather";
    case OpKind::all_gather: return "all_gather";
    case OpKind::reduce_scatter: return "reduce_scatter";
    case OpKind::all_to_all: return "all_to_all";
    case OpKind::barrier: return "barrier";
  }
  __builtin_unreachable();
}

std::string Amount::str() const { return count < 0 ? "" : fmt::format("{} {}", count, name(dtype)); }

std::string describe_call(std::string_view name, std::uint64_t sequence, std::string_view what) {
  return what.empty() ? fmt::format("{} #{}", name, sequence)
                      : fmt::format("{} #{} ({})", name, sequence, what);
}

}  // namespace dist
