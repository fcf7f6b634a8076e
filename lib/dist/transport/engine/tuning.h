// The transport's constants, in one place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace dist::net {

// Messages up to this size go ahead of their receive, through a buffer; larger ones wait for it and are
// copied once.
inline constexpr std::size_t shared_eager_bytes = 4096;
inline constexpr std::size_t tcp_eager_bytes = 64 * 1024;
// Pieces in which an accepted message travels over TCP.
inline constexpr std::size_t tcp_piece_bytes = 512 * 1024;
// A connection's buffers in the kernel, each way, where it allows so much.
inline constexpr int tcp_socket_bytes = 2 << 20;

// A rank's inbound rings together, for up to 16 ranks on a host; more ranks get the least ring each.
inline constexpr std::size_t shared_segment_bytes = std::size_t{1} << 20;
inline constexpr std::size_t least_ring_bytes = 16 * 1024;
inline constexpr std::size_t largest_ring_bytes = 256 * 1024;

// Large messages that one rank has on offer to peers that read its memory; further ones are sent in pieces.
inline constexpr std::size_t claim_count = 1024;

// Groups of one rank that may work without messages at a time; further ones send messages. Memory is taken
// when it is used.
inline constexpr int area_count = 512;

// Memory that the peers do not map passes through windows, so small that they stay in the cache; while the
// peers work on one, the next is filled. They are memory of each rank, for each group that needs them.
inline constexpr std::size_t window_bytes = std::size_t{512} << 10;
inline constexpr std::size_t window_count = 2;

// Ranks that work without messages show each other copies of data up to this size, if each has a core: for
// more, cache lines that change owners cost more than meeting once more.
inline constexpr std::size_t short_bytes = 2048;

// Parts of a root's list of at least this size are copied where they lie by the ranks they belong to: for
// less, to meet for it takes longer.
inline constexpr std::size_t paired_bytes = 4096;

// How long a waiting rank looks at most before it sleeps, when every rank of the host has a core. More than
// it takes to wake one, 50 to 100 us in a virtual machine: who looks for less finds each rank asleep that
// waits for it (send_recv of 1 MiB from foreign memory: 100 us, or 260). DIST_SPIN_US replaces it.
inline constexpr std::chrono::microseconds spin_time{200};

// Copies of at least this size are made without holding the rank's lock.
inline constexpr std::size_t unlocked_copy_bytes = 64 * 1024;

// Data of up to this size is fetched by who awaits it together with the line that says it is there; of more,
// too many lines would be taken from who is about to write them (all_reduce of 1 KiB: half as fast again
// without).
inline constexpr std::size_t most_fetched_along = 512;

// Messages of at least this size are copied by both sides at once, if the sender waits and has a core.
inline constexpr std::size_t shared_copy_bytes = 16 * 1024;

// What scratch memory is kept for the next operation.
inline constexpr std::size_t scratch_cache_bytes = std::size_t{64} << 20;

// How long a rank sleeps at most before it asks its TCP connections whether their peers are still there.
inline constexpr std::chrono::seconds silence_check{5};

// How long a leaving rank tries to hand over what it has still to send. A goodbye that finds no room in a
// ring is told by the shared segment's header; without the one that finds none in a socket, a rank that was
// stopped for a while would take this one for dead.
inline constexpr std::chrono::seconds goodbye_patience{5}, socket_goodbye_patience{30};
inline constexpr std::chrono::milliseconds failed_goodbye_patience{500};

}  // namespace dist::net
