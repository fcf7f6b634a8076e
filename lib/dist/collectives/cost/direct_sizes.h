// The sizes at which collectives in mapped memory (direct/) switch to another method. They are here because
// the cost model and the machine must agree on them.
#pragma once

#include <cstddef>

namespace dist::direct {

// Room for the data of one round, as a copy for the other ranks. Ranks that outnumber the cores publish
// copies of data up to this size.
inline constexpr std::size_t room_bytes = 8192;

// The same if each rank has a core; for larger data, cache lines that change owners cost more than one more
// meeting.
inline constexpr std::size_t short_bytes = 2048;

// In a reduce the root alone reads these copies. If they are larger than this together, one more meeting,
// after which all ranks share the work, takes less time. Where ranks outnumber the cores, a meeting takes
// about twenty times as long.
inline constexpr std::size_t root_reads(bool share_cores) { return share_cores ? 128 * 1024 : 8192; }

// Parts of a root's list of at least this size are copied in place by the ranks that they belong to; for
// smaller ones, the meeting that this needs takes longer than the copy.
inline constexpr std::size_t paired_bytes = 4096;

}  // namespace dist::direct
