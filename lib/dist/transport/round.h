// Round: one operation of ranks that map each other's memory (peer_memory.h).
//
// Whoever waits looks for a moment, then sleeps in the engine, as for messages; so a death, an abort and a
// timeout end it with the same errors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "dist/core/view.h"
#include "dist/transport/link/shared_segment.h"
#include "dist/transport/peer_memory.h"

namespace dist {

// First one of show(), expose() and attend(), then of() as needed, then finish() if memory was exposed by
// anybody; or give_up().
class Round {
 public:
  static constexpr int everybody = -1;
  // Those who share the work on what all expose to them: here every rank.
  static constexpr int workers = everybody;
  // Whether, of what goes between a root's list and the other ranks, each of these copies its own.
  static constexpr bool in_pairs = true;

  // `terms` and `label` outlive it.
  Round(PeerMemory& peers, const RoundTerms& terms, const CallLabel& label);
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }
  DType dtype() const { return dtype_; }
  static constexpr bool works() { return true; }
  int worker() const { return rank(); }  // which of them this rank is, if it works()
  int worker_count() const { return size(); }

  static constexpr std::size_t shown_bytes = net::shown_bytes;  // at most, as a copy
  // Whether `bytes` in so many parts can be shown as a copy.
  static bool fits(std::size_t bytes, std::size_t parts = 1);
  // Whether that is better than to show the memory itself. All ranks answer alike.
  bool is_short(std::size_t bytes, std::size_t parts = 1) const;

  // Lets the others read a copy: afterwards the memory is the caller's again. It must fit. Of a list, one
  // part for each rank, its own is not copied.
  void show(const TensorView& data) { show({&data, 1}); }
  void show(std::span<const TensorView> parts);
  // Lets the others (all, or only that one) read and write the memory itself, until finish(). What they do
  // not map is not touched: they get windows. `helps`: this rank has no work of its own in this round.
  void expose(const TensorView& data, int to = everybody) { expose({&data, 1}, to); }
  void expose(std::span<const TensorView> parts, int to = everybody, bool helps = false);
  void attend();                                       // shows nothing
  bool maps(std::span<const TensorView> parts) const;  // whether the others reach them without windows

  void meet(int rank) { notice_of(rank); }  // waits for that rank's notice
  bool in_windows(int rank);                // whether that rank gave windows; waits for its notice
  bool any_in_windows();                    // of all ranks
  // Whether that rank, or any, exposed its memory. What is asked for next by of(rank, count, part) is fetched
  // along.
  bool is_in_place(int rank, std::int64_t count = 0, int part = 0);
  bool any_in_place(std::int64_t count = 0, int part = 0);
  bool exposes(int rank);       // whether it exposed its memory, and that is mapped
  bool helps(int rank);         // ... and helps
  bool exposes_list(int rank);  // ... and it is more than one part
  bool all_expose_lists();
  bool shows_nothing(int rank);

  // What that rank shows, `count` elements: waits for its notice. Error{mismatch} where it shows another
  // number. A view of exposed memory is good until finish(). Of a rank that gave windows it begins where they
  // do, and tells nothing else.
  TensorView of(int rank, std::int64_t count, int part = 0);
  // After of(rank, ...): its pages that are used next are mapped together, if it is exposed memory.
  void prefault(int rank, const TensorView& used);
  // After of(rank, ...). Error{mismatch} where that rank shows a copy and not its memory, or the other way
  // round: it runs another algorithm.
  void check_algorithm(int rank, bool copied) {
    if (seen_in_place_ == copied) fail_algorithm(rank);
  }
  [[noreturn]] void fail_algorithm(int rank);  // that error
  // This rank touches the others' memory no longer; waits until nobody touches this rank's.
  // Error{peer_failed} where one of them gave up: its work is missing.
  void finish();
  // This rank ends the round by an error: its part is missing, and whoever waits for it gets an error too. So
  // it is where exposed memory is left without finish().
  void give_up() { gave_up_ = true; }

  // Windows are filled, worked on and filled again in turns; `count` of them in all. Only where memory is in
  // windows.
  std::byte* windows() { return peers_.windows(); }  // this rank's
  void tell_filled(std::uint64_t count);
  void tell_worked(std::uint64_t count);
  void await_filled(int rank, std::uint64_t count);
  void await_worked(std::uint64_t count);  // by all to whom this rank exposed them; errors as finish()

 private:
  // Of a rank's list of parts, without its own.
  static std::size_t place_among_others(int part, int rank) {
    return static_cast<std::size_t>(part > rank ? part - 1 : part);
  }
  // So many bytes of what is shown in a copy are read, at most.
  std::size_t read_up_to(int rank, std::int64_t count, int part) const {
    return (place_among_others(part, rank) + 1) * static_cast<std::size_t>(count) * size_of(dtype_);
  }
  template <class Done>
  void wait_until(const Done& done, int rank);
  template <class Done>
  bool wait_on_own_core(const Done& done);  // for a while; whether it is done
  bool wait_on_shared_core(const std::function<bool()>& done, int rank);
  void met_other_program(std::chrono::steady_clock::time_point now, std::chrono::nanoseconds slice);
  static bool nap(const std::function<bool()>& done);
  bool is_in_the_way(int rank);
  bool is_crowded(std::chrono::steady_clock::time_point now) const;
  net::SharedSegmentHeader& own_header() { return peers_.peer(rank()).shared_segment->header(); }
  void wait_long(const std::function<bool()>& done, int rank);
  std::uint64_t reusable_until(std::uint64_t depth);  // waits until this round may use what it needs
  std::byte* own_room();
  net::Notice& begin_notice(net::Showing showing, std::size_t parts);
  void post(net::Notice& notice, std::size_t data_in_line = 0);
  net::Notice& notice_of(int rank, std::size_t read_up_to = 0);  // bytes of the data in it
  void check_terms(int rank, const net::Notice& theirs);
  net::PartPlace place_of(int rank, net::Notice& notice, int part);
  void begin_work(int rank);
  void tell_done();
  bool is_done(const net::RoundFlags& theirs) const;
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
  bool attends_ = false;        // nobody waits for more than its notice: the others may be rounds ahead
  bool exposes_ = false;        // others may touch this rank's memory
  bool works_ = false;          // this rank may touch that of others
  bool seen_in_place_ = false;  // what of() gave last is the other's memory itself, or its windows
  int exposed_to_ = everybody;
  bool gave_up_ = false;
};

}  // namespace dist
