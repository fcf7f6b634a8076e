// StreamSignals: how one rank's stream learns how far those of the others are, without any kernel that waits.
//
// Ranks count their common rounds. In each, a rank signals twice: `ready`, its data may be read; `done`, it
// touches the memory of others no longer. Each pair of ranks counts its messages: `sent`, that one's data may
// be read; `taken`, it was. Three ways, of which all ranks use the same:
//   events  ranks that are threads: a stream waits for another's event, which was recorded before
//   flags   best between processes: streams write and wait for words in shared host memory
//   host    everywhere: the host waits for its own stream, and then tells the others (DIST_CUDA_SYNC=host)
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
// DIST_CUDA_SYNC, if it is set. Error{invalid_argument} says what there is.
std::optional<SyncMode> wanted_sync();

// Where a vector has what belongs to a rank.
inline std::size_t rank_index(int rank) { return static_cast<std::size_t>(rank); }

enum class Point : std::uint8_t { ready, done, sent, taken };
inline constexpr std::size_t point_count = 4;

struct Signal {
  Point point;
  std::uint64_t number;  // of the round or the message: grows by one
  int to = 0;            // a message's: whom it is told
};

// Of one rank in one group. A rank is at most depth() signals of a kind ahead of any that waits for them.
class StreamSignals {
 public:
  static constexpr std::uint64_t round_depth = 16, message_depth = 8;
  static constexpr std::uint64_t depth(Point point) {
    return point == Point::ready || point == Point::done ? round_depth : message_depth;
  }

  virtual ~StreamSignals() = default;
  // Enqueues on the stream: this rank has come to that point.
  virtual void signal(const Signal& signal, StreamHandle stream) = 0;
  // Makes the stream wait for that rank's. Where needs_meeting(), that rank's host has signalled already.
  virtual void await(int rank, const Signal& signal, StreamHandle stream) = 0;
  // Whether hosts must meet before a stream waits. So they must where ranks share a process, even if a stream
  // could wait for what nobody has enqueued yet: CUDA makes the rank that is to enqueue it wait for all
  // streams of the process when it frees memory, or copies to memory that is not registered.
  virtual bool needs_meeting() const = 0;
  // Lets every stream of this rank go that waits: something has failed. A stream that had a signal to give
  // may take it back: to be called until nothing waits any more.
  virtual void release() noexcept {}
};

// A rank's events, by point, whom it is told and number; other threads' streams wait for them.
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

// What a rank tells the others, in whole pages of host memory that all ranks map. A cache line for each flag.
class FlagPages {
 public:
  struct alignas(64) Line {
    StreamFlag value{0};
  };
  static std::size_t bytes(int ranks);
  static FlagPages* make(void* pages, int ranks);  // there, all flags 0

  // 1: it has given up, or let its streams go; what ends from then on may be wrong.
  StreamFlag& broken() { return lines()[0].value; }
  // Written by its streams.
  StreamFlag& at(const Signal& signal);
  void release(int ranks);

 private:
  Line* lines() { return reinterpret_cast<Line*>(this); }
};

// `boards`, `pages`: by rank, and alive as long as the signals.
std::unique_ptr<StreamSignals> make_event_signals(Device device, int rank, std::vector<EventBoard*> boards);
// `share_process`: whether two of the ranks do, whichever.
std::unique_ptr<StreamSignals> make_flag_signals(Device device, int rank,
                                                 const std::vector<FlagPages*>& pages, bool share_process);
std::unique_ptr<StreamSignals> make_host_signals(Device device);

}  // namespace dist
