// The transport's constants, in one place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace dist::net {

// Messages up to this size are sent before their receive is posted, through a buffer; larger ones wait for
// the receive and are copied once.
inline constexpr std::size_t shared_eager_bytes = 4096;
inline constexpr std::size_t tcp_eager_bytes = 64 * 1024;
// An accepted message travels over TCP in pieces of this size.
inline constexpr std::size_t tcp_piece_bytes = 512 * 1024;
// Size of each of a connection's two kernel buffers, where the system allows it.
inline constexpr int tcp_socket_bytes = 2 << 20;

// Size of a rank's inbound rings together, for up to 16 ranks on a host; with more ranks each ring has the
// least size.
inline constexpr std::size_t shared_segment_bytes = std::size_t{1} << 20;
inline constexpr std::size_t least_ring_bytes = 16 * 1024;
inline constexpr std::size_t largest_ring_bytes = 256 * 1024;

// How many large messages one rank can offer at a time to peers that read its memory; further ones are sent
// in pieces.
inline constexpr std::size_t claim_count = 1024;

// How many groups of one rank can work in shared memory at a time (direct/), and what each gets of the rank's
// shared segment; further groups send messages. Memory is taken when it is first used.
inline constexpr int area_count = 512;
inline constexpr std::size_t area_bytes = 147712;

// How long a waiting rank polls at most before it sleeps, when every rank of the host has a core. It is
// longer than a wake-up, which takes 50 to 100 us in a virtual machine: with a shorter time each rank would
// find the other asleep (send_recv of 1 MiB from foreign memory: 260 us instead of 100). DIST_SPIN_US
// replaces it.
inline constexpr std::chrono::microseconds spin_time{200};

// Copies of at least this size are made without holding the rank's lock.
inline constexpr std::size_t unlocked_copy_bytes = 64 * 1024;

// Data of up to this size is prefetched together with the cache line that announces it. For larger data, too
// many lines would be taken from the rank that is about to write them (an all_reduce of 1 KiB is 1.5 times as
// fast without prefetching).
inline constexpr std::size_t most_fetched_along = 512;

// Messages of at least this size are copied by both sides at once, if the sender waits and has a core.
inline constexpr std::size_t shared_copy_bytes = 16 * 1024;

// How many bytes of scratch memory are kept for later operations.
inline constexpr std::size_t scratch_cache_bytes = std::size_t{64} << 20;

// How long a rank sleeps at most before it checks its TCP connections for peers that no longer answer.
inline constexpr std::chrono::seconds silence_check{5};

// How long a leaving rank tries to hand over what it still has to send. A goodbye that finds no room in a
// ring is announced by the shared segment's header; without a goodbye that finds no room in a socket, a rank
// that was stopped for a while would take this one for dead.
inline constexpr std::chrono::seconds goodbye_patience{5}, socket_goodbye_patience{30};
inline constexpr std::chrono::milliseconds failed_goodbye_patience{500};

}  // namespace dist::net
