// StreamSignals: how one rank's stream learns how far those of the others are, without any kernel that waits.
//
// Ranks count their common rounds. In each, a rank signals twice: `ready`, its data may be read; `done`, it
// touches the memory of others no longer. Three ways, of which all ranks use the same:
//   events  ranks that are threads: a stream waits for another's event, which was recorded before
//   flags   ranks that are processes: streams write and wait for words in shared host memory
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

// Which of the two a signal is.
enum class Point : std::uint8_t { ready, done };

// Of one rank in one group. `round` grows by one; a rank is at most `depth` rounds ahead of any other.
class StreamSignals {
 public:
  static constexpr std::uint64_t depth = 16;

  virtual ~StreamSignals() = default;
  // Enqueues on the stream: this rank has come to that point.
  virtual void signal(Point point, std::uint64_t round, StreamHandle stream) = 0;
  // Makes the stream wait for that rank's. Where needs_meeting(), that rank's host has signalled already.
  virtual void await(int rank, Point point, std::uint64_t round, StreamHandle stream) = 0;
  virtual bool needs_meeting() const = 0;
  // Lets every stream of this rank go that waits: something has failed. A stream that had a signal to give
  // may take it back: to be called until nothing waits any more.
  virtual void release() noexcept {}
};

// A rank's events, by point and round; other threads' streams wait for them.
class EventBoard {
 public:
  explicit EventBoard(Device device);
  Event& at(Point point, std::uint64_t round) {
    return events_[static_cast<std::size_t>(point)][round % StreamSignals::depth];
  }

 private:
  std::array<std::vector<Event>, 2> events_;
};

// What a rank tells the others, in a page of host memory that all ranks map. A cache line each.
struct FlagPage {
  static constexpr std::size_t bytes = 4096;
  struct alignas(64) Line {
    StreamFlag value;
  };
  Line points[2];  // written by its streams
  Line broken;     // 1: it has given up, or let its streams go; what ends from then on may be wrong
  StreamFlag& at(Point point) { return points[static_cast<std::size_t>(point)].value; }
};

// `boards`, `pages`: by rank, and alive as long as the signals.
std::unique_ptr<StreamSignals> make_event_signals(Device device, int rank, std::vector<EventBoard*> boards);
std::unique_ptr<StreamSignals> make_flag_signals(Device device, int rank,
                                                 const std::vector<FlagPage*>& pages);
std::unique_ptr<StreamSignals> make_host_signals(Device device);

}  // namespace dist
