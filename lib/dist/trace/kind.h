// The names of the kinds of events, and of the endings of calls, as files have them.
#pragma once

#include <array>
#include <string_view>

#include "dist/trace/event.h"

namespace dist::trace {

inline constexpr std::array all_kinds{Kind::call, Kind::send,   Kind::receive,
                                      Kind::wait, Kind::reduce, Kind::compute};

// "call", "send", ...
constexpr std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::call: return "call";
    case Kind::send: return "send";
    case Kind::receive: return "receive";
    case Kind::wait: return "wait";
    case Kind::reduce: return "reduce";
    case Kind::compute: return "compute";
  }
  __builtin_unreachable();
}

inline constexpr std::array all_endings{Ending::done, Ending::failed, Ending::cut_off};

// "done", "failed", "cut off".
constexpr std::string_view name(Ending ending) {
  switch (ending) {
    case Ending::done: return "done";
    case Ending::failed: return "failed";
    case Ending::cut_off: return "cut off";
  }
  __builtin_unreachable();
}

}  // namespace dist::trace
