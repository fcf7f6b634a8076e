// The protocol between a remote rank and the simulation: a verb and its arguments; then an Answer and the
// result.
//
// A message's bytes follow `post_send`, and the answer to `wait_for` of a receive. Integers, texts and lists
// are as in store/wire.h; a place is "train.cpp:41", a deadline is in ns of the virtual clock.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "dist/check/finding.h"
#include "dist/core/deadline.h"
#include "dist/core/fail.h"
#include "dist/group/join/virtual_world.h"
#include "dist/simulate/inspector.h"
#include "dist/store/wire.h"
#include "dist/transport/endpoint.h"

namespace dist::sim {

enum class Verb : std::uint8_t {
  // a task
  hello,   // -> rank, ranks, GPUs per node, whether it checks and traces, operations to remember, costs
  failed,  // Errc, text: the rank's function has thrown
  bye,     // the task has ended
  // Tasking
  now,
  sleep_until,
  wait,    // list, deadline, has a reason, doing, where, for whom -> notified
  notify,  // list
  start,   // with a descriptor: the new task's channel, which answers `hello` when it may begin
  charge,
  reduced,
  copied,
  at_store,
  allocate,
  deallocate,
  // VirtualWorld
  join,
  exchange,
  // Endpoint
  make_endpoint,
  open,
  progress,
  interrupt,
  abort,
  close,
  // Transport
  post_send,
  post_receive,
  wait_for,  // -> peer
  test,
  cancel,
  close_transport,
  // Collectives, each run by the simulation (collective_question.h)
  collective,  // with the bytes that the rank contributes -> those that it gets
  algorithm,   // -> which would run
  // Inspector
  compare_collective,
  compare_copies,
  note,
  lends_tensors,
  call_begins,
  call_ends,
};
inline constexpr auto last_verb = Verb::call_ends;

enum class Answer : std::uint8_t { ok, error };

// Arguments that are more than integers and texts. Readers throw Error{connection} for what cannot be, and
// for what is longer than anything that the library says.
void put(wire::Writer& to, CallSite where);
void put(wire::Writer& to, const Deadline& deadline);
void put(wire::Writer& to, const std::vector<int>& numbers);
void put(wire::Writer& to, const BoardCall& call);
void put(wire::Writer& to, const ControlMessage& message);
void put(wire::Writer& to, const TransportOptions& options);
void put(wire::Writer& to, const check::Finding& finding);
void put(wire::Writer& to, const Attendance& call);
void put(wire::Writer& to, const GroupCopies& mine);
void put(wire::Writer& to, const trace::Call& call);
void put(wire::Writer& to, const CostModel& costs);

CallSite get_place(wire::Reader& from);
Deadline get_deadline(wire::Reader& from);
std::vector<int> get_numbers(wire::Reader& from);
// Ranks of a job of `world_size` ranks, each at most once, at least one.
Members get_members(wire::Reader& from, int world_size);
BoardCall get_board_call(wire::Reader& from, int rank, int world_size);
ControlMessage get_control_message(wire::Reader& from);
TransportOptions get_transport_options(wire::Reader& from, int rank, int world_size);
check::Finding get_finding(wire::Reader& from);
Attendance get_attendance(wire::Reader& from);
GroupCopies get_group_copies(wire::Reader& from);
trace::Call get_call(wire::Reader& from);
CostModel get_costs(wire::Reader& from);

template <class Enum>
void put_enum(wire::Writer& to, Enum value) {
  to.put(static_cast<std::uint8_t>(value));
}

template <class Enum>
Enum get_enum(wire::Reader& from, Enum last) {
  const auto value = from.get<std::uint8_t>();
  if (value > static_cast<std::uint8_t>(last)) fail(Errc::connection, "{} is out of range", value);
  return static_cast<Enum>(value);
}

}  // namespace dist::sim
