#include "dist/transport/peer_memory.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "dist/core/arena.h"
#include "dist/core/view_list.h"
#include "dist/transport/engine.h"
#include "dist/transport/spin.h"

namespace dist {

using net::Notice;

namespace {

// How a rank looks before it sleeps. With a core for every rank: without a pause while an answer is a matter
// of nanoseconds, then with pauses. Otherwise it lets others run, who may be the ones it waits for.
constexpr int quick_looks = 200;
constexpr int looks_a_burst = 64;  // between two questions to the clock
constexpr int yields = 50;

}  // namespace

PeerMemory::PeerMemory(Setup setup)
    : setup_(std::move(setup)), round_(setup_.group), seen_(setup_.peers.size(), setup_.group) {}

PeerMemory::~PeerMemory() {
  mine().flags.left.store(setup_.group);
  net::RetiredArea retired{setup_.area, setup_.group, {}};
  for (const Peer& p : setup_.peers) retired.members.push_back(p.area);
  setup_.engine.with_areas([&](net::AreaPool& areas) { areas.retire(std::move(retired)); });
}

bool PeerMemory::maps(const TensorView& memory) const {
  return setup_.within_process || memory.count == 0 ||
         Arena::local().offset_of(memory.data, memory.bytes()).has_value();
}

template <class Done>
void PeerMemory::wait_until(const Done& done, int peer, const RoundLabel& label) {
  if (setup_.has_cores) {
    for (int i = 0; i < quick_looks; ++i)
      if (done()) return;
    const auto since = std::chrono::steady_clock::now();
    do {
      for (int i = 0; i < looks_a_burst; ++i) {
        if (done()) return;
        net::relax_cpu();
      }
    } while (std::chrono::steady_clock::now() - since < net::spin_time);
  } else {
    for (int i = 0; i < yields; ++i) {
      if (done()) return;
      std::this_thread::yield();
    }
  }
  wait_long(done, peer, label);
}

void PeerMemory::wait_long(const std::function<bool()>& done, int peer, const RoundLabel& label) {
  setup_.engine.await_memory(label.options(), setup_.peers[static_cast<std::size_t>(peer)].global_rank, done);
}

// Before a notice and its room are used again, every rank must have read what was in them: it has when it is
// in a later round.
void PeerMemory::make_room(const RoundLabel& label) {
  if (round_ - setup_.group < net::notice_depth) return;
  const std::uint64_t needed = round_ - net::notice_depth + 1;
  for (int r = 0; r < size(); ++r) {
    auto& seen = seen_[static_cast<std::size_t>(r)];
    if (seen >= needed || r == rank()) continue;
    const auto& at = peer(r).area->notice(needed).round;
    wait_until([&] { return at.load(std::memory_order_acquire) >= needed; }, r, label);
    seen = needed;
  }
}

// After a store that is sequentially consistent: whoever sleeps by then is woken.
void PeerMemory::wake_peers() {
  for (int r = 0; r < size(); ++r)
    if (r != rank() && peer(r).sleeping->load() != 0) peer(r).mailroom->wake();
}

Round::Round(PeerMemory& peers, const RoundTerms& terms, const RoundLabel& label)
    : peers_(peers), terms_(terms), dtype_(static_cast<DType>(terms.opcode & 0xff)), label_(label) {
  ++peers_.round_;
  peers_.make_room(label_);
}

Round::~Round() {
  if (works_) tell_done();  // first: the others may be waiting for it to give up, too
  if (exposes_) give_up();
}

namespace {

std::size_t table_bytes(std::size_t parts) {
  constexpr std::size_t line = 64;
  return parts == 1 ? 0 : (parts * sizeof(net::PartPlace) + line - 1) / line * line;
}

net::PartPlace* table_in(std::byte* room) { return reinterpret_cast<net::PartPlace*>(room); }

}  // namespace

bool Round::fits(std::size_t bytes, std::size_t parts) {
  return table_bytes(parts) + bytes <= net::shown_bytes;
}

Notice& Round::begin_notice(net::Showing showing, std::size_t parts) {
  Notice& notice = peers_.mine().notice(peers_.round_);
  notice.opcode = terms_.opcode;
  notice.detail = terms_.detail;
  notice.showing = showing;
  notice.parts = static_cast<std::uint32_t>(parts);
  return notice;
}

void Round::post(Notice& notice) {
  notice.round.store(peers_.round_);
  peers_.seen_[static_cast<std::size_t>(rank())] = peers_.round_;
  peers_.wake_peers();
}

void Round::attend() { post(begin_notice(net::Showing::nothing, 0)); }

void Round::show(std::span<const TensorView> parts) {
  if (parts.size() == 1 && parts[0].bytes() <= net::in_line_bytes) {
    Notice& notice = begin_notice(net::Showing::in_line, 1);
    notice.bytes = parts[0].bytes();
    if (parts[0].count > 0) std::memcpy(notice.data, parts[0].data, parts[0].bytes());
    return post(notice);
  }
  Notice& notice = begin_notice(net::Showing::copy, parts.size());
  notice.bytes = total_bytes(parts);
  std::byte* const room = peers_.mine().room(peers_.round_);
  std::size_t at = table_bytes(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts.size() > 1) table_in(room)[i] = {at, parts[i].bytes()};
    if (parts[i].count > 0) std::memcpy(room + at, parts[i].data, parts[i].bytes());
    at += parts[i].bytes();
  }
  post(notice);
}

void Round::expose(std::span<const TensorView> parts) {
  Notice& notice = begin_notice(net::Showing::memory, parts.size());
  auto* const table = table_in(parts.size() == 1 ? notice.data : peers_.mine().room(peers_.round_));
  for (std::size_t i = 0; i < parts.size(); ++i)
    table[i] = {reinterpret_cast<std::uint64_t>(parts[i].data), parts[i].bytes()};
  exposes_ = true;
  post(notice);
}

Notice& Round::notice_of(int rank) {
  const std::uint64_t round = peers_.round_;
  Notice& notice = peers_.peer(rank).area->notice(round);
  auto& seen = peers_.seen_[static_cast<std::size_t>(rank)];
  if (seen != round) {
    peers_.wait_until([&] { return notice.round.load(std::memory_order_acquire) == round; }, rank, label_);
    seen = round;
    check_terms(rank, notice);
  }
  return notice;
}

void Round::check_terms(int rank, const Notice& theirs) {
  if (theirs.opcode == terms_.opcode && theirs.detail == terms_.detail) return;
  peers_.setup_.engine.fail_terms(label_.options(), peers_.peer(rank).global_rank, theirs.opcode);
}

TensorView Round::of(int rank, std::int64_t count, int part) {
  Notice& notice = notice_of(rank);
  const net::PartPlace place = place_of(rank, notice, part);
  const auto at = reinterpret_cast<std::byte*>(place.at);
  const TensorView view{at, count, dtype_, cpu};
  if (view.bytes() != place.bytes)
    peers_.setup_.engine.fail_size(label_.options(), peers_.peer(rank).global_rank, view.bytes(),
                                   place.bytes);
  if (notice.showing == net::Showing::memory) begin_work(rank);
  return view;
}

// In this process's memory.
net::PartPlace Round::place_of(int rank, Notice& notice, int part) {
  std::byte* const room = peers_.peer(rank).area->room(peers_.round_);
  const bool has_table = notice.parts > 1;
  const auto in_room = [&](std::uint64_t offset) { return reinterpret_cast<std::uint64_t>(room) + offset; };
  switch (notice.showing) {
    case net::Showing::nothing: return {};
    case net::Showing::in_line: return {reinterpret_cast<std::uint64_t>(notice.data), notice.bytes};
    case net::Showing::copy: {
      if (!has_table) return {in_room(0), notice.bytes};
      const net::PartPlace place = table_in(room)[part];
      return {in_room(place.at), place.bytes};
    }
    case net::Showing::memory: {
      const net::PartPlace place = has_table ? table_in(room)[part] : *table_in(notice.data);
      return {place.at + static_cast<std::uint64_t>(peers_.peer(rank).shift), place.bytes};
    }
  }
  __builtin_unreachable();
}

// The owner withdraws its memory first and looks then who works on it; so one of the two sees the other.
void Round::begin_work(int rank) {
  const std::uint64_t round = peers_.round_;
  if (!works_) peers_.mine().flags.working.store(round);
  works_ = true;
  if (peers_.peer(rank).area->flags.withdrawn.load() >= round)
    peers_.setup_.engine.fail_withdrawn(label_.options(), peers_.peer(rank).global_rank);
}

void Round::tell_done() {
  works_ = false;
  peers_.mine().flags.done.store(peers_.round_);
  peers_.wake_peers();
}

void Round::await_done(int rank) {
  if (rank == this->rank()) return;
  const auto& done = peers_.peer(rank).area->flags.done;
  peers_.wait_until([&] { return done.load(std::memory_order_acquire) >= peers_.round_; }, rank, label_);
}

void Round::finish() {
  tell_done();
  if (!exposes_) return;
  for (int r = 0; r < size(); ++r) await_done(r);
  exposes_ = false;
}

void Round::finish(int reader) {
  tell_done();
  if (exposes_) await_done(reader);
  exposes_ = false;
}

void Round::give_up() noexcept {
  const std::uint64_t round = peers_.round_;
  peers_.mine().flags.withdrawn.store(round);
  for (const PeerMemory::Peer& peer : peers_.setup_.peers) {
    if (peer.global_rank == peers_.setup_.engine.rank()) continue;
    const net::RoundFlags& theirs = peer.area->flags;
    peers_.setup_.engine.await_release(
        peer.global_rank, [&] { return theirs.working.load() < round || theirs.done.load() >= round; });
  }
}

}  // namespace dist
