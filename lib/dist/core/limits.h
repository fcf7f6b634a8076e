// What this process may hope for: memory, cores, and the system's limits (ulimit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace dist {

// Bytes of RAM, or this container's limit (control groups 1 and 2) when that is less. Read once.
std::size_t physical_memory();

// The CPUs that this process may run on, by number; and how many of them its container's control group
// (version 2) lets it use at a time, 0: all.
std::vector<int> usable_cpus();
int cpu_quota();
// At least 1.
int usable_cores();

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The limit in force now for one of RLIMIT_AS, RLIMIT_NOFILE, ..., in bytes or pieces.
std::uint64_t soft_limit(int resource);

// "1000 MiB" or "unlimited", of a limit in bytes.
std::string limit_text(int resource);

// As much of `wanted` as the hard limit allows; a limit that is higher already stays.
void raise_soft_limit(int resource, std::uint64_t wanted);

// For a launcher that holds pipes and connections of `ranks` ranks: raises the limit of open files where it
// is low. Error{resource} says "<launcher>: ..." when the hard limit is too low for them.
void make_room_for_descriptors(int ranks, std::string_view launcher);

// Bytes that this process may still map (RLIMIT_AS); `unlimited` where no limit is set.
std::uint64_t free_address_space();

// Error{resource} unless this process can open so many more descriptors; raises the soft limit for them.
// `what` needs them: "spawn(32)".
void expect_descriptors(std::size_t more, const std::string& what);

// The limit that an errno of a refused resource stands for, to end a sentence with: "; this process may have
// 64 open files (ulimit -n)". "" where it stands for none.
std::string limit_behind(int error_number);

}  // namespace dist
