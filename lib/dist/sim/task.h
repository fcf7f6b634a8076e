// Task: one fiber of a simulation: a rank, or a worker that a rank started.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <boost/context/detail/fcontext.hpp>

#include "dist/core/tasking.h"
#include "dist/sim/network.h"

namespace dist::sim {

// The exception state that the C++ runtime keeps per thread, and that each fiber needs for itself.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

enum class Wake : std::uint8_t { normal, timed_out, released };

// The first cache line holds what every switch touches.
struct alignas(64) Task {
  boost::context::detail::fcontext_t context = nullptr;  // also the top of what its stack holds
  Task* next = nullptr;
  Time clock = 0;
  ExceptionState exceptions;
  void* rank_context = nullptr;
  RequestId waiting_for = no_request;
  std::int32_t rank = -1;
  bool ended = false;
  bool worker = false;
  bool lost = false;     // its rank has vanished
  bool unwound = false;  // Vanished has been thrown in it
  Wake wake = Wake::normal;

  // Valid while it waits:
  Time deadline = never;
  WaitList* list = nullptr;
  Task *list_next = nullptr, *list_previous = nullptr;
  const WaitReason* reason = nullptr;  // null: none was given
  int mark = 0;
  std::function<void()> main;
  std::shared_ptr<void> local;

  bool is_blocked() const { return waiting_for != no_request || list != nullptr; }
};

}  // namespace dist::sim
