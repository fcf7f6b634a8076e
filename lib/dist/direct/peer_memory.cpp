#include "dist/direct/peer_memory.h"

#include <algorithm>
#include <utility>

#include "dist/core/log.h"
#include "dist/core/memory/arena.h"
#include "dist/direct/bounce_steps.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/opcode.h"

namespace dist {

PeerMemory::PeerMemory(Setup setup)
    : setup_(std::move(setup)),
      size_(static_cast<int>(setup_.peers.size())),
      round_(setup_.group),
      notices_until_(setup_.group + direct::notice_depth - 1),
      rooms_until_(setup_.group + direct::room_depth - 1),
      seen_(setup_.peers.size(), setup_.group) {}

PeerMemory::~PeerMemory() {
  look_for_misfits();
  mine().flags.left.store(setup_.group);
  std::vector<const direct::SharedArea*> members;
  for (const Peer& p : setup_.peers) members.push_back(p.area);
  // A member whose area serves another group has seen every rank leave.
  setup_.shared.areas().retire(setup_.area, [members = std::move(members), group = setup_.group] {
    return std::ranges::all_of(members, [&](const direct::SharedArea* member) {
      return member->flags.left.load() == group || member->flags.group.load() != group;
    });
  });
}

// Compares the notices of the last round, because some ranks did not need those of the others.
void PeerMemory::look_for_misfits() const {
  if (peer(rank()).area->flags.withdrawn.load() != 0) return;  // an error has been thrown already
  for (const Peer& p : setup_.peers) {
    const direct::Notice& notice = p.area->notice(round_);
    if (notice.round.load(std::memory_order_acquire) != round_ || notice.opcode == opcode_) continue;
    log(LogLevel::warn,
        "the last collective of a group was {} on rank {} and {} on rank {}, {}: all ranks must call the "
        "same "
        "(DIST_DEBUG=detail finds it at once)",
        describe_opcode(opcode_), peer(rank()).global_rank, describe_opcode(notice.opcode), p.global_rank,
        differ_in_terms(opcode_, notice.opcode) ? "with different roots or reductions" : "which differ");
    return;
  }
}

bool PeerMemory::maps(const TensorView& memory) const {
  return setup_.within_process || memory.count == 0 ||
         Arena::local().offset_of(memory.data, memory.bytes()).has_value();
}

void PeerMemory::fail_given_up(TransportOptions options, int rank) {
  throw setup_.shared.withdrawal(std::move(options), peer(rank).global_rank);
}

void PeerMemory::fail_if_gone(TransportOptions options, int rank) {
  options.deadline = Deadline::sooner(options.deadline, Deadline::after(std::chrono::seconds(1)));
  try {
    setup_.shared.await_memory(std::move(options), peer(rank).global_rank, [] { return false; });
  } catch (const Error& error) {
    if (error.code() != Errc::timeout) throw;
  }
}

std::byte* PeerMemory::bounce_buffers() {
  if (!bounce_buffers_) {
    log(LogLevel::info,
        "a tensor of this group is in memory that the other ranks do not map: it is copied, {} KiB at a "
        "time; tensors that the library allocates (dist::empty, dist::zeros) need no copies",
        direct::bounce_bytes >> 10);
    bounce_buffers_.emplace(cpu, direct::bounce_count * direct::bounce_bytes);
  }
  return bounce_buffers_->data();
}

void PeerMemory::tell(std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  net::post(flag, value, setup_.fenced);
  wake_peers();
}

void PeerMemory::wake_peers() {
  for (int r = 0; r < size(); ++r)
    if (r != rank() && peer(r).sleeping->load() != 0) peer(r).shared_segment->wake();
}

}  // namespace dist
