// What this process may use: memory, cores, and the system's limits (ulimit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace dist {

// Bytes of RAM, or the limit of this container (control groups 1 and 2) if that is less. Read once.
std::size_t physical_memory();

// The CPUs that this process may run on, by number; and how many of them the control group of its container
// (version 2) lets it use at a time, where 0 means all.
std::vector<int> usable_cpus();
int cpu_quota();
// How many cores this process can use at a time; at least 1.
int usable_cores();

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The limit in force now for one of RLIMIT_AS, RLIMIT_NOFILE, ..., in bytes or pieces.
std::uint64_t soft_limit(int resource);

// A limit in bytes as "1000 MiB" or "unlimited".
std::string limit_text(int resource);

// Raises the limit to as much of `wanted` as the hard limit allows; a higher limit stays as it is.
void raise_soft_limit(int resource, std::uint64_t wanted);

// For a launcher that holds pipes and connections of `ranks` ranks: raises the limit of open files where it
// is low. Throws Error{resource}, "<launcher>: ...", when the hard limit is too low for that.
void make_room_for_descriptors(int ranks, std::string_view launcher);

// Bytes that this process may still map (RLIMIT_AS); `unlimited` where no limit is set.
std::uint64_t free_address_space();

// Raises the soft limit so that this process can open `more` descriptors; throws Error{resource} if it
// cannot. `what` needs them: "spawn(32)".
void expect_descriptors(std::size_t more, const std::string& what);

// The limit behind the errno of a refused resource, as the end of a sentence: "; this process may have 64
// open files (ulimit -n)". "" if there is none.
std::string limit_behind(int error_number);

}  // namespace dist
