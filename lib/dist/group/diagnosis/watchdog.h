// Watchdog: when an operation of any rank reaches its timeout, every rank says what it is doing, and the
// error shows it. Each rank has one thread for this, asleep in the store until a rank asks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/group/diagnosis/flight_dump.h"
#include "dist/group/diagnosis/snapshot.h"
#include "dist/store/store.h"

namespace dist {

class Watchdog {
 public:
  Watchdog(std::shared_ptr<Store> store, std::shared_ptr<const FlightLog> log);
  // Ends promptly. Its thread ends with it and releases the store, unless the store no longer answers.
  ~Watchdog();

  // What all ranks are doing, by rank.
  struct Answer {
    std::vector<Snapshot> snapshots;  // empty: the store did not answer
    Timeout took{};                   // the time within which they were taken

    // The others' state: "rank 1 is in no operation; the last, all_reduce #6 (4 f32) at train.cpp:40,
    // completed (12.0 s); rank 2 is silent: dead or stuck".
    std::string others(int rank) const;
    // How old a call must be for all snapshots to show it, and for its message to have arrived as far as
    // one can tell: a quarter of the age of the call that failed, but not less than the snapshots took.
    std::chrono::milliseconds settled(int rank, std::uint64_t record) const;
  };
  // Asks all ranks about a call that has been going on since `since`. Blocks at most `patience`.
  Answer ask(Deadline::Clock::time_point since, Timeout patience) noexcept;
  // This rank is about to leave, in order or because it has failed; the destructor notifies the others.
  void leaving(bool in_order);

 private:
  struct Shared;
  bool is_ending();
  static void loop(Shared& shared);
  static void answer(Shared& shared, std::int64_t round);
  static std::int64_t round_to_read(const Shared& shared, Deadline::Clock::time_point since);
  static Answer collect(Shared& shared, Deadline::Clock::time_point since, Deadline deadline);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;  // not started for a single rank
};

}  // namespace dist
