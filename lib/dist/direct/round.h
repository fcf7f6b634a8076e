// Round: one operation of ranks that map each other's memory (peer_memory.h).
//
// A rank that waits polls for a moment, then sleeps in the engine, as for messages; so a death, an abort and
// a timeout end it with the same errors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "dist/core/view.h"
#include "dist/direct/peer_memory.h"
#include "dist/transport/link/shared_segment.h"

namespace dist {

// The order of calls: first one of publish_copy(), publish_in_place() and publish_nothing(); then of() as
// needed; then finish() if any rank exposed memory. Or give_up().
class Round {
 public:
  static constexpr int everybody = -1;
  // The ranks that share the work on what all ranks expose to them: here every rank.
  static constexpr int workers = everybody;
  // Whether each rank copies its own part of what goes between a root's list and the other ranks.
  static constexpr bool in_pairs = true;

  // `terms` and `label` outlive this object.
  Round(PeerMemory& peers, const RoundTerms& terms, const CallLabel& label);
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }
  DType dtype() const { return dtype_; }
  static constexpr bool works() { return true; }
  int worker() const { return rank(); }  // this rank's position among the workers, if it works()
  int worker_count() const { return size(); }

  static constexpr std::size_t room_bytes = direct::room_bytes;  // most bytes that fit as a copy
  // Whether `bytes` in `parts` parts can be published as a copy.
  static bool fits(std::size_t bytes, std::size_t parts = 1);
  // Whether that is faster than publishing the memory itself. All ranks get the same answer.
  bool is_short(std::size_t bytes, std::size_t parts = 1) const;
  // The same where one rank alone reads the copies of all others.
  bool is_short_for_root(std::size_t bytes) const;

  // Lets the other ranks read a copy: afterwards the memory is the caller's again. The copy must fit. In a
  // list with one part for each rank, this rank's own part is not copied.
  void publish_copy(const TensorView& data) { publish_copy({&data, 1}); }
  void publish_copy(std::span<const TensorView> parts);
  // Lets the other ranks (all, or only rank `to`) read and write the memory itself, until finish(). Memory
  // that they do not map is left alone: they get bounce buffers. `helps`: this rank has no work of
  // its own in this round.
  void publish_in_place(const TensorView& data, int to = everybody) { publish_in_place({&data, 1}, to); }
  void publish_in_place(std::span<const TensorView> parts, int to = everybody, bool helps = false);
  void publish_nothing();                              // publishes nothing
  bool maps(std::span<const TensorView> parts) const;  // whether the others reach them without buffers

  void wait_for(int rank) { notice_of(rank); }  // waits for that rank's notice
  bool is_bounced(int rank);  // whether that rank published bounce buffers; waits for its notice
  bool any_bounced();         // the same for all ranks
  // Whether that rank, or any rank, exposed its memory. What of(rank, count, part) will ask for is prefetched
  // along with the notice.
  bool is_in_place(int rank, std::int64_t count = 0, int part = 0);
  bool any_in_place(std::int64_t count = 0, int part = 0);
  bool published_memory(int rank);  // whether it exposed its memory, and the memory is mapped
  bool helps(int rank);             // ... and it helps
  bool published_list(int rank);    // ... and there is more than one part
  bool all_published_lists();
  bool published_nothing(int rank);

  // The `count` elements that this rank publishes as `part`: waits for its notice. Error{mismatch} where it
  // publishes another number. A view of exposed memory is valid until finish(). For a rank that exposed
  // buffers the view begins where they do, and says nothing else.
  TensorView of(int rank, std::int64_t count, int part = 0);
  // To be called after of(rank, ...): maps the pages that are used next together, if the view is exposed
  // memory.
  void prefault(int rank, const TensorView& used);
  // To be called after of(rank, ...). Error{mismatch} where that rank publishes a copy instead of its memory,
  // or the other way round: it runs another algorithm.
  void check_algorithm(int rank, bool copied) {
    if (seen_in_place_ == copied) fail_algorithm(rank);
  }
  [[noreturn]] void fail_algorithm(int rank);  // throws that error
  // From now on this rank does not touch the others' memory; waits until no rank touches this rank's.
  // Error{peer_failed} where one of them gave up, because its work is missing.
  void finish();
  // Ends the round by an error on this rank: its part is missing, and every rank that waits for it gets an
  // error, too. The same happens when a round that exposed memory is destroyed without finish().
  void give_up() { gave_up_ = true; }

  // The bounce buffers are filled, worked on and filled again; `count`: how often in all. Only where memory
  // is in buffers.
  std::byte* bounce_buffers() { return peers_.bounce_buffers(); }  // this rank's buffers
  void tell_filled(std::uint64_t count);
  void tell_worked(std::uint64_t count);
  void await_filled(int rank, std::uint64_t count);
  void await_worked(std::uint64_t count);  // by all ranks that use them; throws the same errors as finish()

 private:
  // The place of a part in a rank's list that is published without the rank's own part.
  static std::size_t place_among_others(int part, int rank) {
    return static_cast<std::size_t>(part > rank ? part - 1 : part);
  }
  // At most how many bytes are read of what that rank publishes as a copy.
  std::size_t read_up_to(int rank, std::int64_t count, int part) const {
    return (place_among_others(part, rank) + 1) * static_cast<std::size_t>(count) * size_of(dtype_);
  }
  template <class Done>
  void wait_until(const Done& done, int rank);
  template <class Done>
  bool wait_on_own_core(const Done& done);  // waits for a while; returns whether it is done
  bool wait_on_shared_core(const std::function<bool()>& done, int rank);
  void met_other_program(std::chrono::steady_clock::time_point now, std::chrono::nanoseconds slice);
  static bool nap(const std::function<bool()>& done);
  bool is_in_the_way(int rank);
  bool is_crowded(std::chrono::steady_clock::time_point now) const;
  net::SharedSegmentHeader& own_header() { return peers_.peer(rank()).shared_segment->header(); }
  void wait_long(const std::function<bool()>& done, int rank);
  std::uint64_t reusable_until(std::uint64_t depth);  // waits until this round may use what it needs
  std::byte* own_room();
  direct::Notice& begin_notice(direct::Published published, std::size_t parts);
  void post(direct::Notice& notice, std::size_t data_in_line = 0);
  direct::Notice& notice_of(int rank, std::size_t read_up_to = 0);  // read_up_to: bytes of its data
  void check_terms(int rank, const direct::Notice& theirs);
  direct::PartPlace place_of(int rank, direct::Notice& notice, int part);
  void begin_work(int rank);
  void tell_done();
  bool is_done(const direct::RoundFlags& theirs) const;
  bool has_given_up(int rank) const;
  int who_gave_up(int rank) const;
  void tell_given_up();
  template <class Reached>
  void await_progress(int rank, const Reached& reached);
  template <class Await>
  void for_each_user(const Await& await);

  PeerMemory& peers_;
  const RoundTerms& terms_;
  const DType dtype_;
  const CallLabel& label_;
  bool only_reads_ = false;     // no rank waits for more than its notice: others may be ahead
  bool lends_ = false;          // other ranks may touch this rank's memory
  bool works_ = false;          // this rank may touch other ranks' memory
  bool seen_in_place_ = false;  // of() last returned the other's memory itself, or its buffers
  int lent_to_ = everybody;
  bool gave_up_ = false;
};

}  // namespace dist
