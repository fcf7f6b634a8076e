// What one rank of a group shows the others without messages (peer_memory.h): a ring of notices, flags, and
// room for small data. It lies in the owner's shared segment, which the peers map for as long as they are
// connected. Only the owner writes; each writer has cache lines of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dist::net {

// A rank may be so many rounds ahead of the slowest reader. It waits for one that is half as far behind, and
// to hear of that takes two cache lines' ways: with 64 notices that is little for each round.
inline constexpr std::size_t notice_depth = 64;
inline constexpr std::size_t room_depth = 16;     // the same, of rounds whose data needs more than a notice
inline constexpr std::size_t shown_bytes = 8192;  // room for one round's data
inline constexpr std::size_t in_line_bytes = 224;

enum class Showing : std::uint16_t {
  nothing,
  in_line,  // the data is in the notice itself
  copy,     // in the room that belongs to it
  memory,   // where the owner has it, for reading and writing until the round has ended
  windows,  // the owner's windows: its memory passes through them
};

// Of one round. `round` is stored last: whoever reads it sees the rest. Four cache lines, so that what is
// shown in some hundred bytes need not wait for a room; of less only the first is touched.
struct alignas(128) Notice {
  std::atomic<std::uint64_t> round;
  std::uint32_t opcode;  // must be equal on all ranks
  std::uint32_t before;  // the opcode of the round before: its notice may have been looked at by no rank
  std::uint64_t bytes;   // of the data, in line or copied
  Showing showing;
  bool has_table;  // of its parts, before the data; otherwise all of them are equally long
  bool helps;      // of memory: its owner takes a share of what the others do there
  std::uint32_t parts;
  std::byte data[in_line_bytes];
};
static_assert(sizeof(Notice) == 256);

// A part's place: the owner's address (of its windows: of the first), or an offset from the table. The table
// begins the notice's data where there is room for it, otherwise the round's room.
struct PartPlace {
  std::uint64_t at, bytes;
};

// Numbers of rounds, which grow, and of windows in a round. A cache line each for what is written in every
// round and read by nobody but a rank that gives up, for what is read in every round and hardly ever written,
// and for what the others wait for.
struct RoundFlags {
  // Touches the memory of others in this round.
  alignas(64) std::atomic<std::uint64_t> working;

  // Has given this round up and begins no other (0: none): nobody may begin to touch its memory or wait for
  // it.
  alignas(64) std::atomic<std::uint64_t> withdrawn;
  std::atomic<std::uint64_t> group;  // the number before its first round; 0: of no group
  std::atomic<std::uint64_t> left;   // the same, of a group that the owner has left

  // Touches the memory of others no longer, in all rounds up to this one.
  alignas(64) std::atomic<std::uint64_t> done;
  // How many windows of the round for which the owner has posted its notice
  std::atomic<std::uint64_t> filled;  // hold the owner's data, or have
  std::atomic<std::uint64_t> worked;  // the owner touches no longer, on any rank
};

struct SharedArea {
  Notice notices[notice_depth];
  RoundFlags flags;
  alignas(64) std::byte rooms[room_depth][shown_bytes];

  Notice& notice(std::uint64_t round) { return notices[round % notice_depth]; }
  std::byte* room(std::uint64_t round) { return rooms[round % room_depth]; }
};
static_assert(sizeof(RoundFlags) == 3 * 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr int most_parts =
    static_cast<int>(shown_bytes / sizeof(PartPlace));  // that a notice can list

}  // namespace dist::net
