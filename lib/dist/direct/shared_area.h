// What one rank of a group publishes to the others without messages (peer_memory.h): a ring of notices,
// flags, and room for small data. It is in the owner's shared segment, which the peers map for as long as
// they are connected. Only the owner writes to it, so each rank writes to cache lines of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dist/collectives/cost/direct_sizes.h"
#include "dist/transport/engine/tuning.h"

namespace dist::direct {

// How many rounds a rank may be ahead of the slowest reader. It waits until that reader is at most half as
// far behind; learning of that takes the time in which two cache lines travel: with 64 notices, little per
// round.
inline constexpr std::size_t notice_depth = 64;
inline constexpr std::size_t room_depth = 16;  // the same for rounds whose data needs more than a notice
inline constexpr std::size_t in_line_bytes = 224;

enum class Published : std::uint16_t {
  nothing,
  in_line,  // the data is in the notice itself
  copy,     // the data is in the room that belongs to it
  memory,   // the owner's memory itself, to read and write until the round has ended
  bounced,  // the owner's bounce buffers: its memory passes through them
};

// The notice of one round. `round` is stored last: a rank that reads it sees the rest. It has four cache
// lines, so that a few hundred bytes of data need no room; for less data only the first line is touched.
struct alignas(128) Notice {
  std::atomic<std::uint64_t> round;
  std::uint32_t opcode;  // must be equal on all ranks
  std::uint32_t before;  // the opcode of the round before, whose notice no rank may have read
  std::uint64_t bytes;   // size of the data, in line or copied
  Published published;
  bool has_table;  // the data begins with a table of its parts; otherwise they have equal sizes
  bool helps;      // with memory: its owner shares the others' work there
  std::uint32_t parts;
  std::byte data[in_line_bytes];
};
static_assert(sizeof(Notice) == 256);

// A part's place: the owner's address (with buffers: of the first one), or an offset from the table. The
// table begins the notice's data where there is room for it, otherwise the round's room.
struct PartPlace {
  std::uint64_t at, bytes;
};

// Numbers of rounds, which grow, and of buffers in a round. They are in three cache lines: the first is
// written in every round and read only by a rank that gives up, the second is read in every round and hardly
// ever written, and the other ranks wait for the third.
struct RoundFlags {
  // The owner touches the memory of other ranks in this round.
  alignas(64) std::atomic<std::uint64_t> working;

  // The owner has given up this round and begins no other (0: none): no rank may begin to touch its memory or
  // to wait for it.
  alignas(64) std::atomic<std::uint64_t> withdrawn;
  std::atomic<std::uint64_t> group;  // its group: the number before the first round; 0: no group
  std::atomic<std::uint64_t> left;   // the same for a group that the owner has left

  // The owner touches the memory of other ranks no longer, in all rounds up to this one.
  alignas(64) std::atomic<std::uint64_t> done;
  // How many buffers of the round for which the owner has posted its notice:
  std::atomic<std::uint64_t> filled;  // hold, or held, the owner's data
  std::atomic<std::uint64_t> worked;  // the owner no longer touches, on any rank
};

struct SharedArea {
  Notice notices[notice_depth];
  RoundFlags flags;
  alignas(64) std::byte rooms[room_depth][room_bytes];

  Notice& notice(std::uint64_t round) { return notices[round % notice_depth]; }
  std::byte* room(std::uint64_t round) { return rooms[round % room_depth]; }
};
static_assert(sizeof(RoundFlags) == 3 * 64);
static_assert(sizeof(SharedArea) == net::area_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr int most_parts =
    static_cast<int>(room_bytes / sizeof(PartPlace));  // most parts that a notice can list

}  // namespace dist::direct
