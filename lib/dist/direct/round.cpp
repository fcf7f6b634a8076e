// A round in shared memory. The constructor makes sure that this round's notice may be used again
// (reusable_until); notice_of() waits for another rank's notice and checks what it calls; of() returns that
// rank's data; finish() and the destructor end the round, well or not. What a notice contains is in
// round_notice.cpp, how a rank waits where cores are shared in round_wait.cpp.
#include "dist/direct/round.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "dist/transport/engine/spin.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/link/prefetch_for_write.h"
#include "dist/transport/opcode.h"

namespace dist {

using direct::Notice;

namespace {

// How a rank that has a core of its own polls before it sleeps: without reading the clock while an
// answer may be a matter of nanoseconds. Where ranks share cores: round_wait.cpp.
constexpr int quick_looks = 200;
constexpr int looks_a_burst = 64;                    // polls between two readings of the clock
constexpr std::chrono::microseconds first_look{50};  // then the engine waits, which learns how long to poll

// How far ahead a rank that publishes nothing prefetches: the others may be this many rounds ahead, and a
// notice takes longer to arrive than a round takes.
constexpr std::uint64_t rounds_read_ahead = 3;

// The part of the data in a round's notice that is to be fetched along with its first line, instead of after
// it.
std::span<const std::byte> beyond_first_line(direct::SharedArea& area, std::uint64_t round,
                                             std::size_t bytes) {
  constexpr std::size_t first_line = 64 - offsetof(Notice, data);
  if (bytes <= first_line || bytes > net::most_fetched_along) return {};
  if (bytes > direct::in_line_bytes) return {area.room(round), bytes};
  return {area.notice(round).data + first_line, bytes - first_line};
}

bool lends_memory(const Notice& notice) {
  return notice.published == direct::Published::memory || notice.published == direct::Published::bounced;
}

}  // namespace

template <class Done>
void Round::wait_until(const Done& done, int rank) {
  const bool came =
      peers_.setup_.has_cores ? wait_on_own_core(done) : wait_on_shared_core(std::ref(done), rank);
  if (!came) wait_long(done, rank);
}

template <class Done>
bool Round::wait_on_own_core(const Done& done) {
  if (net::look(done, quick_looks)) return true;
  const auto since = std::chrono::steady_clock::now();
  do {
    if (net::look(done, looks_a_burst)) return true;
  } while (std::chrono::steady_clock::now() - since < first_look);
  return false;
}

Round::Round(PeerMemory& peers, const RoundTerms& terms, const CallLabel& label)
    : peers_(peers), terms_(terms), dtype_(dtype_of(terms.opcode)), label_(label) {
  peers_.before_ = std::exchange(peers_.opcode_, terms.opcode);
  if (++peers_.round_ <= peers_.notices_until_) return;
  try {
    peers_.notices_until_ = reusable_until(peers_.most_ahead_);
  } catch (...) {
    tell_given_up();
    throw;
  }
}

// Before a notice or a room is used again, after `depth` rounds, every rank must have read what was in it: it
// has once it is in a later round. A rank that must wait for this waits until half of them are free, so that
// it never polls the very notice that a peer writes next, which would slow that peer down in every round.
std::uint64_t Round::reusable_until(std::uint64_t depth) {
  const std::uint64_t round = peers_.round_;
  const std::uint64_t needed = round - depth + 1, enough = round - depth / 2;
  std::uint64_t slowest = round - 1;
  for (int r = 0; r < size(); ++r) {
    auto& seen = peers_.seen_[static_cast<std::size_t>(r)];
    if (r == rank()) continue;
    if (seen < needed) {
      const auto& at = peers_.peer(r).area->notice(enough).round;
      wait_until([&] { return at.load(std::memory_order_acquire) >= enough; }, r);
      seen = enough;
    }
    slowest = std::min(slowest, seen);
  }
  return slowest + depth - 1;
}

// Done is stored only after the others can see that this rank has given up: otherwise they would take the
// round for finished.
void Round::tell_given_up() {
  peers_.mine().flags.withdrawn.store(peers_.round_);
  tell_done();
}

// Done is stored before the wait, because the others may be waiting for this rank to give up, too.
Round::~Round() {
  const std::uint64_t round = peers_.round_;
  if (lends_ || gave_up_)
    tell_given_up();
  else if (works_)
    tell_done();
  if (!lends_) return;
  peers_.wake_peers();
  for (const PeerMemory::Peer& peer : peers_.setup_.peers) {
    if (peer.global_rank == peers_.setup_.shared.rank()) continue;
    const direct::RoundFlags& theirs = peer.area->flags;
    peers_.setup_.shared.await_release(
        peer.global_rank, [&] { return theirs.working.load() < round || theirs.done.load() >= round; });
  }
}

Notice& Round::notice_of(int rank, std::size_t read_up_to) {
  const std::uint64_t round = peers_.round_;
  direct::SharedArea& area = *peers_.peer(rank).area;
  Notice& notice = area.notice(round);
  auto& seen = peers_.seen_[static_cast<std::size_t>(rank)];
  if (seen != round) {
    const std::span<const std::byte> more = beyond_first_line(area, round, read_up_to);
    const auto is_there = [&] {
      net::prefetch_for_read(more);
      return notice.round.load(std::memory_order_acquire) == round;
    };
    wait_until(is_there, rank);
    seen = round;
    check_terms(rank, notice);
  }
  return notice;
}

void Round::check_terms(int rank, const Notice& theirs) {
  if (theirs.opcode == terms_.opcode && theirs.before == peers_.before_) return;
  const int other = peers_.peer(rank).global_rank;
  if (theirs.before != peers_.before_)
    throw peers_.setup_.shared.earlier_misfit(label_.options(), other, theirs.before, peers_.before_);
  throw peers_.setup_.shared.misfit(label_.options(), other, 0, {.opcode = theirs.opcode});
}

bool Round::is_bounced(int rank) { return notice_of(rank).published == direct::Published::bounced; }

bool Round::published_memory(int rank) { return notice_of(rank).published == direct::Published::memory; }

bool Round::published_list(int rank) { return published_memory(rank) && notice_of(rank).parts > 1; }

bool Round::all_published_lists() {
  for (int r = 0; r < size(); ++r)
    if (!published_list(r)) return false;
  return true;
}

bool Round::helps(int rank) { return published_memory(rank) && notice_of(rank).helps; }

bool Round::published_nothing(int rank) { return notice_of(rank).published == direct::Published::nothing; }

bool Round::any_bounced() {
  bool any = false;
  for (int r = 0; r < size(); ++r) any |= is_bounced(r);
  return any;
}

bool Round::is_in_place(int rank, std::int64_t count, int part) {
  return lends_memory(notice_of(rank, read_up_to(rank, count, part)));
}

bool Round::any_in_place(std::int64_t count, int part) {
  bool any = false;
  for (int r = 0; r < size(); ++r) any |= is_in_place(r, count, part);
  return any;
}

TensorView Round::of(int rank, std::int64_t count, int part) {
  const std::size_t bytes = read_up_to(rank, count, part);
  Notice& notice = notice_of(rank, bytes);
  if (only_reads_) {
    direct::SharedArea& area = *peers_.peer(rank).area;
    const std::uint64_t later = peers_.round_ + rounds_read_ahead;
    __builtin_prefetch(&area.notice(later));
    net::prefetch_for_read(beyond_first_line(area, later, bytes));
  }
  const direct::PartPlace place = place_of(rank, notice, part);
  const auto at = reinterpret_cast<std::byte*>(place.at);
  const TensorView view{at, count, dtype_, cpu};
  if (view.bytes() != place.bytes)
    throw peers_.setup_.shared.misfit(label_.options(), peers_.peer(rank).global_rank, view.bytes(),
                                      {.bytes = place.bytes});
  seen_in_place_ = lends_memory(notice);
  if (seen_in_place_) begin_work(rank);
  return view;
}

void Round::prefault(int rank, const TensorView& used) {
  PrefaultedPages* const pages = peers_.peer(rank).pages;
  if (seen_in_place_ && pages) pages->prefault(used.data, used.bytes());
}

void Round::fail_algorithm(int rank) {
  throw peers_.setup_.shared.other_algorithm(label_.options(), peers_.peer(rank).global_rank);
}

// The owner withdraws its memory first and then checks which ranks work on it; so one of the two sees the
// other.
void Round::begin_work(int rank) {
  const std::uint64_t round = peers_.round_;
  if (!works_) peers_.mine().flags.working.store(round);
  works_ = true;
  if (has_given_up(rank))
    throw peers_.setup_.shared.withdrawal(label_.options(), peers_.peer(rank).global_rank);
}

void Round::tell_done() {
  works_ = false;
  peers_.tell(peers_.mine().flags.done, peers_.round_);
}

// Whether that rank has given up this round, or one before it.
bool Round::has_given_up(int rank) const {
  const std::uint64_t from = peers_.peer(rank).area->flags.withdrawn.load();
  return from != 0 && from <= peers_.round_;
}

// That rank, or a rank whose memory this rank works on, if it has given up; -1: none has.
int Round::who_gave_up(int rank) const {
  if (has_given_up(rank)) return rank;
  for (int r = 0; works_ && r < size(); ++r)
    if (has_given_up(r)) return r;
  return -1;
}

// Waits until that rank has reached this point of the round.
template <class Reached>
void Round::await_progress(int rank, const Reached& reached) {
  const direct::RoundFlags& theirs = peers_.peer(rank).area->flags;
  wait_until([&] { return reached(theirs) || who_gave_up(rank) >= 0; }, rank);
  if (const int other = who_gave_up(rank); other >= 0)
    throw peers_.setup_.shared.withdrawal(label_.options(), peers_.peer(other).global_rank);
}

bool Round::is_done(const direct::RoundFlags& theirs) const {
  return theirs.done.load(std::memory_order_acquire) >= peers_.round_;
}

void Round::finish() {
  tell_done();
  if (!lends_) return;
  for_each_user([&](int r) { await_progress(r, [&](const auto& theirs) { return is_done(theirs); }); });
  lends_ = false;
}

template <class Await>
void Round::for_each_user(const Await& await) {
  for (int r = 0; r < size(); ++r)
    if (r != rank() && (lent_to_ == everybody || lent_to_ == r)) await(r);
}

void Round::tell_filled(std::uint64_t count) { peers_.tell(peers_.mine().flags.filled, count); }

void Round::tell_worked(std::uint64_t count) { peers_.tell(peers_.mine().flags.worked, count); }

void Round::await_filled(int rank, std::uint64_t count) {
  await_progress(rank,
                 [&](const auto& theirs) { return theirs.filled.load(std::memory_order_acquire) >= count; });
}

void Round::await_worked(std::uint64_t count) {
  for_each_user([&](int r) {
    notice_of(r);  // until then the count belongs to another round
    await_progress(r, [&](const auto& theirs) {
      return theirs.worked.load(std::memory_order_acquire) >= count || is_done(theirs);
    });
  });
}

}  // namespace dist
