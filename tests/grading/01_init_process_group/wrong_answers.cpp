// Wrong answers to lab 01, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <numeric>

#include "dist/core/fail.h"
#include "dist/group/process_group.h"

#include "init_process_group.h"

//// even_nodes_assumed
// Misconception: rank = node * processes per node + local rank holds on every cluster.
// Replaces: place_of
// Killed by: Part1Place.uneven_nodes
// Diagnosis: assumes_even_nodes

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  auto place = right_place_of(processes_per_node, node, local_rank);
  place.rank = node * processes_per_node[static_cast<std::size_t>(node)] + local_rank;
  return place;
}

//// local_rank_as_rank
// Misconception: the local rank is the rank. This is true on a single node only.
// Replaces: place_of
// Killed by: Part1Place.even_nodes
// Diagnosis: local_rank_as_rank

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  auto place = right_place_of(processes_per_node, node, local_rank);
  place.rank = local_rank;
  return place;
}

//// local_rank_not_checked
// Misconception: a local rank is right because the launcher gives it.
// Replaces: place_of
// Killed by: Part1Place.refuses_what_does_not_exist
// Diagnosis: none

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  const auto first = processes_per_node.begin();
  if (node < 0 || node >= static_cast<int>(processes_per_node.size()))
    fail(Errc::invalid_argument, "node {} does not exist", node);
  return {.rank = std::accumulate(first, first + node, 0) + local_rank,
          .local_rank = local_rank,
          .world_size = std::accumulate(first, processes_per_node.end(), 0)};
}

//// a_deadline_for_each_rank
// Misconception: passing the timeout to every wait limits the whole call. It limits each wait.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.has_one_deadline_for_the_whole_call
// Diagnosis: a_deadline_for_each_wait

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  std::vector<std::string> membership;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      membership.push_back(here.get_text(member_key(rank), dist::Deadline::after(timeout)));
    } catch (const dist::Error&) {
      fail(Errc::timeout, "rank {} waited; missing ranks: {}", place.rank,
           fmt::join(missing_ranks(here, place.world_size), ", "));
    }
  }
  return membership;
}

//// a_key_of_its_own
// Misconception: any key that no other job uses will do.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.publishes_under_the_agreed_key
// Diagnosis: none

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  return right_rendezvous(store, "members/" + job, place, entry, timeout);
}

//// adds_the_timeout_to_now
// Misconception: the deadline is the present time plus the timeout. (The sum may be too large for the
// clock.)
// Replaces: rendezvous
// Killed by: Part2Rendezvous.waits_for_late_joiners
// Diagnosis: none

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto deadline =
      dist::Deadline::at(dist::Clock::now() + std::chrono::duration_cast<dist::Clock::duration>(timeout));
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  std::vector<std::string> all;
  std::string missing;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      all.push_back(here.get_text(member_key(rank), deadline));
    } catch (const dist::Error& error) {
      if (error.code() != Errc::timeout) throw;
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (!missing.empty()) fail(Errc::timeout, "missing ranks: {}", missing);
  return all;
}

//// any_error_is_a_missing_rank
// Misconception: if the entry of a rank cannot be read, the rank is missing. (The store may be lost.)
// Replaces: rendezvous
// Killed by: Part2Rendezvous.names_the_missing_ranks
// Diagnosis: any_error_is_a_missing_rank

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto deadline = dist::Deadline::after(timeout);
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  std::vector<std::string> all;
  std::string missing;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      all.push_back(here.get_text(member_key(rank), deadline));
    } catch (const dist::Error&) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (!missing.empty()) fail(Errc::timeout, "missing ranks: {}", missing);
  return all;
}

//// fixed_world_size
// Misconception: the number of ranks is a constant of the program: that of the machine on which it was
// written.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.every_rank_returns_the_same_membership
// Diagnosis: fixed_world_size

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  auto wrong = place;
  wrong.world_size = 4;
  return right_rendezvous(store, job, wrong, entry, timeout);
}

//// ignores_the_job
// Misconception: the store belongs to this job alone, so the key "member/<rank>" is unique.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.two_jobs_on_one_store
// Diagnosis: ignores_the_job

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  store->set(fmt::format("{}/member/{}", job, place.rank),
             entry);  // published under the right key, but looked up under a wrong one
  store->set(member_key(place.rank), entry);
  std::vector<std::string> membership;
  const auto deadline = dist::Deadline::after(timeout);
  for (int rank = 0; rank < place.world_size; ++rank) {
    membership.push_back(store->get_text(member_key(rank), deadline));
  }
  return membership;
}

//// names_only_the_first
// Misconception: the first rank that is missing is reason enough to give up.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.names_the_missing_ranks
// Diagnosis: names_only_the_first

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto deadline = dist::Deadline::after(timeout);
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  std::vector<std::string> all;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      all.push_back(here.get_text(member_key(rank), deadline));
    } catch (const dist::Error& error) {
      if (error.code() != Errc::timeout) throw;
      fail(Errc::timeout, "missing ranks: {}", rank);
    }
  }
  return all;
}

//// no_timeout
// Misconception: sooner or later every rank comes, so no timeout is needed.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.has_one_deadline_for_the_whole_call
// Diagnosis: ignores_the_timeout

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout) {
  return right_rendezvous(store, job, place, entry, dist::no_timeout);
}

//// ordered_as_text
// Misconception: keys in sorted order are ranks in order. As text, 10 comes before 2.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.every_rank_returns_the_same_membership
// Diagnosis: ordered_as_text

#include <map>
#include SOLUTION

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto right = right_rendezvous(store, job, place, entry, timeout);
  std::map<std::string, std::string> by_key;
  for (int rank = 0; rank < place.world_size; ++rank)
    by_key[member_key(rank)] = right[static_cast<std::size_t>(rank)];
  std::vector<std::string> membership;
  for (const auto& [key, value] : by_key) membership.push_back(value);
  return membership;
}

//// returns_early
// Misconception: the first process creates the group and the others join it, so no rank waits for any rank
// but rank 0.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.waits_for_late_joiners
// Diagnosis: returns_before_all_joined

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  here.wait(std::vector{member_key(0)}, dist::Deadline::after(timeout));
  std::vector<std::string> membership;
  for (int rank = 0; rank < place.world_size; ++rank) {
    const bool is_there = here.check(std::vector{member_key(rank)});
    membership.push_back(is_there ? here.get_text(member_key(rank), dist::Deadline::never()) : "");
  }
  return membership;
}

//// whole_seconds
// Misconception: a timeout is a number of seconds.
// Replaces: rendezvous
// Killed by: Part2Rendezvous.has_one_deadline_for_the_whole_call
// Diagnosis: longer_than_the_timeout

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto seconds =
      timeout > std::chrono::hours(1) ? timeout : std::chrono::ceil<std::chrono::seconds>(timeout);
  return right_rendezvous(store, job, place, entry, seconds);
}

//// a_gpu_for_every_process
// Misconception: every process has a GPU of its own.
// Replaces: describe
// Killed by: Part3Describe.names_pid_host_and_device
// Diagnosis: no_gpu_for_everybody

std::string describe(const Process& process) {
  const auto device =
      process.gpus == 0 ? std::string("cpu") : fmt::format("cuda:{}", process.place.local_rank);
  return fmt::format("pid {} on {}, {}", process.pid, process.host, device);
}

//// a_gpu_without_gpus
// Misconception: a host has at least one GPU.
// Replaces: describe
// Killed by: Part3Describe.names_pid_host_and_device
// Diagnosis: none

std::string describe(const Process& process) {
  return fmt::format("pid {} on {}, cuda:{}", process.pid, process.host,
                     process.place.local_rank % std::max(process.gpus, 1));
}

//// gpu_by_global_rank
// Misconception: process `rank` takes GPU `rank`, as in many examples. This works on the first node only.
// Replaces: describe
// Killed by: Part3Describe.names_pid_host_and_device
// Diagnosis: gpu_by_global_rank

std::string describe(const Process& process) {
  auto wrong = process;
  wrong.place.local_rank = process.place.rank;
  return right_describe(wrong);
}

//// cut_within_a_character
// Misconception: one character is one byte.
// Replaces: pack
// Killed by: Part4Text.cuts_between_characters
// Diagnosis: cut_within_a_character

dist::Tensor pack(const std::string& text, std::int64_t size) {
  auto packed = dist::zeros({size}, dist::DType::u8);
  const auto length = std::min(text.size(), static_cast<std::size_t>(size));
  std::copy_n(text.begin(), length, packed.data<std::uint8_t>().begin());
  return packed;
}

//// cuts_a_whole_character
// Misconception: a text that was cut always ends in the middle of a character. Its last character may be
// complete.
// Replaces: pack
// Killed by: Part4Text.cuts_between_characters
// Diagnosis: cuts_a_whole_character

dist::Tensor pack(const std::string& text, std::int64_t size) {
  auto packed = dist::zeros({size}, dist::DType::u8);
  auto length = std::min(text.size(), static_cast<std::size_t>(size));
  if (length < text.size()) {
    while (length > 0 && continues_a_character(text[length - 1])) --length;
    if (length > 0 && static_cast<unsigned char>(text[length - 1]) >= 0xC0) --length;
  }
  std::copy_n(text.begin(), length, packed.data<std::uint8_t>().begin());
  return packed;
}

//// not_padded
// Misconception: a new tensor is full of zeros. Only zeros() guarantees this; empty() keeps what was in the
// memory before.
// Replaces: pack
// Killed by: Part4Text.packs_with_zeros_to_the_end
// Diagnosis: not_padded

dist::Tensor pack(const std::string& text, std::int64_t size) {
  auto packed = dist::empty({size}, dist::DType::u8);
  const auto length = bytes_that_fit(text, static_cast<std::size_t>(size));
  std::copy_n(text.begin(), length, packed.data<std::uint8_t>().begin());
  return packed;
}

//// room_for_a_terminator
// Misconception: a text ends with a zero, so one byte is kept for it.
// Replaces: pack
// Killed by: Part4Text.packs_with_zeros_to_the_end
// Diagnosis: room_for_a_terminator

dist::Tensor pack(const std::string& text, std::int64_t size) {
  dist::Tensor packed = dist::zeros({size}, dist::DType::u8);
  const auto fitting = right_pack(text, std::max<std::int64_t>(size - 1, 0));
  packed.narrow(0, fitting.numel()).copy_(fitting);
  return packed;
}

//// unpacks_all_bytes
// Misconception: the text is all bytes of the tensor.
// Replaces: unpack
// Killed by: Part4Text.unpacks_up_to_the_first_zero
// Diagnosis: zeros_kept

std::string unpack(const dist::Tensor& packed) {
  const auto bytes = packed.data<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

//// gathers_twice
// Misconception: calling a collective once more does no harm.
// Replaces: exchange
// Killed by: Part5Exchange.every_rank_reads_every_text
// Diagnosis: several_collectives

std::vector<std::string> exchange(const std::string& text, std::int64_t size) {
  right_exchange(text, size);
  return right_exchange(text, size);
}

//// one_tensor_n_times
// Misconception: n copies of a Tensor are n tensors. They are n names for one piece of memory, as with
// PyTorch's [t] * n.
// Replaces: exchange
// Killed by: Part5Exchange.every_rank_reads_every_text
// Diagnosis: one_tensor_n_times

std::vector<std::string> exchange(const std::string& text, std::int64_t size) {
  const auto world_size = static_cast<std::size_t>(dist::get_world_size());
  std::vector<dist::Tensor> gathered(world_size, dist::empty({size}, dist::DType::u8));
  dist::all_gather(gathered, pack(text, size));
  std::vector<std::string> texts;
  for (const auto& packed : gathered) texts.push_back(unpack(packed));
  return texts;
}
