// StreamSignals: how one rank's stream learns how far the other ranks' streams are, without any kernel that
// waits.
//
// Ranks count their common rounds. In each round a rank signals twice: `ready`, its data may be read; `done`,
// it no longer touches the memory of other ranks. Each pair of ranks counts its messages: `sent`, the
// sender's data may be read; `taken`, it was read. There are three ways, and all ranks use the same one:
//   events  ranks that are threads: a stream waits for another's event, which was recorded before
//   flags   fastest between processes: streams write and wait for words in shared host memory
//   host    everywhere: the host waits for its own stream, then notifies the others (DIST_CUDA_SYNC=host)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "dist/core/device.h"

namespace dist {

enum class SyncMode : std::uint64_t { events, flags, host };
std::string_view name(SyncMode mode);
// DIST_CUDA_SYNC, if it is set. Error{invalid_argument} lists the modes.
std::optional<SyncMode> wanted_sync();

// A rank's index in a vector by rank.
inline std::size_t rank_index(int rank) { return static_cast<std::size_t>(rank); }

enum class Point : std::uint8_t { ready, done, sent, taken };
inline constexpr std::size_t point_count = 4;

struct Signal {
  Point point;
  std::uint64_t number;  // the number of the round or the message: grows by one
  int to = 0;            // for a message: the rank that is notified
};

// One rank's signals in one group. A rank is at most depth() signals of a kind ahead of any rank that waits
// for them.
class StreamSignals {
 public:
  static constexpr std::uint64_t round_depth = 16, message_depth = 8;
  static constexpr std::uint64_t depth(Point point) {
    return point == Point::ready || point == Point::done ? round_depth : message_depth;
  }

  virtual ~StreamSignals() = default;
  // Enqueues on the stream: this rank has reached that point.
  virtual void signal(const Signal& signal, StreamHandle stream) = 0;
  // Makes the stream wait for that rank's signal. Where needs_meeting(), that rank's host must have signalled
  // before.
  virtual void await(int rank, const Signal& signal, StreamHandle stream) = 0;
  // Whether hosts must meet before a stream waits. They must where ranks share a process, even if a stream
  // could wait for what no rank has enqueued yet: CUDA makes the rank that is to enqueue it wait for all
  // streams of the process when it frees memory, or copies to memory that is not registered.
  virtual bool needs_meeting() const = 0;
  // Called after a failure: releases every stream of this rank that waits. A stream that still had a signal
  // to give may take it back, so it is to be called until nothing waits any more.
  virtual void release() noexcept {}
};

// A rank's events, by point, by the rank that is notified and by number; other threads' streams wait for
// them.
class EventBoard {
 public:
  EventBoard(Device device, int ranks);
  Event& at(const Signal& signal) {
    const std::uint64_t depth = StreamSignals::depth(signal.point);
    return events_[static_cast<std::size_t>(signal.point)]
                  [rank_index(signal.to) * depth + signal.number % depth];
  }

 private:
  std::array<std::vector<Event>, point_count> events_;
};

// What a rank signals to the others, in whole pages of host memory that all ranks map: a cache line per flag.
class FlagPages {
 public:
  struct alignas(64) Line {
    StreamFlag value{0};
  };
  static std::size_t bytes(int ranks);
  static FlagPages* make(void* pages, int ranks);  // at `pages`, with all flags 0

  // 1: this rank has given up, or released its streams; results from then on may be wrong.
  StreamFlag& broken() { return lines()[0].value; }
  // The flag for a signal, written by this rank's streams.
  StreamFlag& at(const Signal& signal);
  void release(int ranks);

 private:
  Line* lines() { return reinterpret_cast<Line*>(this); }
};

// `boards`, `pages`: by rank; they must live as long as the signals.
std::unique_ptr<StreamSignals> make_event_signals(Device device, int rank, std::vector<EventBoard*> boards);
// `share_process`: whether any two of the ranks do.
std::unique_ptr<StreamSignals> make_flag_signals(Device device, int rank,
                                                 const std::vector<FlagPages*>& pages, bool share_process);
std::unique_ptr<StreamSignals> make_host_signals(Device device);

}  // namespace dist
