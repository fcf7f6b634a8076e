// How far the simulations of this process are.
#pragma once

#include <atomic>
#include <cstdint>

namespace dist::sim {

inline std::atomic<std::uint64_t> all_messages{0};

// Call it for each message. If several threads simulate at the same time, some messages are not counted:
// counting must not cost more than the message.
inline void count_message() {
  all_messages.store(all_messages.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Returns how many messages were sent so far, in all simulations of this process. Any thread may ask.
inline std::uint64_t messages_so_far() { return all_messages.load(std::memory_order_relaxed); }

}  // namespace dist::sim
